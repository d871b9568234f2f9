package dev.sandglass.api.pool;

/** Rules of the schema that no annotation of a type says, in CEL, each with its message. */
final class PoolSchemaRules {

    static final String LANGUAGES_KNOWN =
            "self.all(language, language in ['" + SandboxPoolSpec.PYTHON + "', '" + SandboxPoolSpec.JAVASCRIPT + "'])";
    static final String LANGUAGE_UNKNOWN =
            "languages may name " + SandboxPoolSpec.PYTHON + " and " + SandboxPoolSpec.JAVASCRIPT + " only";

    static final String LANGUAGES_ONCE = "self.all(language, self.exists_one(other, other == language))";
    static final String LANGUAGE_TWICE = "languages must name each language at most once";

    private PoolSchemaRules() {}
}
