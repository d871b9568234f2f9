package dev.sandglass.gateway.contract.config;

/** Paths of folders as callers and sandboxes write them. Pure. */
public final class Folders {

    private Folders() {}

    /** Without slashes at its end. A regex for that takes the square of the text's length, and this text comes from outside. */
    public static String bare(String path) {
        int end = path.length();
        while (end > 0 && path.charAt(end - 1) == '/') {
            end--;
        }
        return path.substring(0, end);
    }
}
