package dev.sandglass.api;

/** The CEL expressions about volumes and workspace, and the messages users get when one is broken. */
final class VolumeSchemaRules {

    static final String PATH_FREE = "!self.matches('" + VolumeRules.TAKEN_PATTERN + "')";
    static final String PATH_TAKEN =
            "/workspace (for files that stay, set spec.workspace), /app, which leads there, the folders"
                    + " of the system and of the supervisor, and everything below them are reserved; use a path such as /data";

    static final String ONE_SOURCE = "[has(self.persistentVolumeClaim), has(self.configMap), has(self.secret),"
            + " has(self.emptyDir)].filter(given, given).size() == 1";
    static final String NOT_ONE_SOURCE = "exactly one of persistentVolumeClaim, configMap, secret and emptyDir must be"
            + " given; other kinds, such as hostPath, are not supported";

    static final String WRITABLE =
            "!has(self.readOnly) || self.readOnly || (!has(self.configMap) && !has(self.secret))";
    static final String NOT_WRITABLE = "a configMap and a secret can only be read: leave readOnly out";

    static final String NOT_EMPTY_FOR_EVER = "!has(self.readOnly) || !self.readOnly || !has(self.emptyDir)";
    static final String ALWAYS_EMPTY = "an emptyDir that can only be read stays empty: leave readOnly out";

    static final String SECRET_OPEN = "self.startsWith('" + VolumeRules.SECRET_PREFIX + "')";
    static final String SECRET_CLOSED = "only a Secret whose name begins with mountable- may be mounted; create it"
            + " under such a name to open it to code in sandboxes";

    static final String PATHS_APART = "self.all(v, self.exists_one(w, v.mountPath == w.mountPath"
            + " || v.mountPath.startsWith(w.mountPath + '/')))";
    static final String PATHS_OVERLAP = "no mountPath may be the same as, or below, another volume's";

    /** The disk is read once, outside the loop: the API server bounds what a rule may cost. */
    static final String SCRATCH_FITS = "!has(self.volumes) || [quantity(string(self.disk))].all(disk,"
            + " self.volumes.all(v, !has(v.emptyDir) || !has(v.emptyDir.sizeLimit)"
            + " || (quantity(v.emptyDir.sizeLimit).isGreaterThan(quantity('0'))"
            + " && quantity(v.emptyDir.sizeLimit).compareTo(disk) <= 0)))";

    static final String SCRATCH_UNFIT = "emptyDir.sizeLimit must be more than 0 and at most spec.disk";

    static final String WORKSPACE_BOUNDS = SchemaRules.DISK_BOUNDS;
    static final String WORKSPACE_OUT_OF_BOUNDS = "workspace.size must be between " + SchemaRules.LEAST_BYTES + " and "
            + SchemaRules.MOST_DISK + " (a plain number means bytes)";

    static final String GROWING = "quantity(string(self.size)).compareTo(quantity(string(oldSelf.size))) >= 0";
    static final String SHRUNK = "workspace.size can grow but not shrink: a volume cannot be made smaller";

    static final String SAME_CLASS = "has(self.storageClassName) ? has(oldSelf.storageClassName)"
            + " && self.storageClassName == oldSelf.storageClassName : !has(oldSelf.storageClassName)";
    static final String CLASS_CHANGED =
            "workspace.storageClassName cannot change: the files are in the class in which" + " they were created";

    private VolumeSchemaRules() {}
}
