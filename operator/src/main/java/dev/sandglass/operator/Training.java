package dev.sandglass.operator;

final class Training {
    private Training() {}

    static void run() {}
}
