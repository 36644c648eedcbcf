package dev.ullage.config;

/** Which members are counted when a network split decides who lives. */
public enum MajorityOf {
    ALL("all"),
    COORDINATORS("coordinators");

    private final String label;

    MajorityOf(String label) {
        this.label = label;
    }

    /** The name in settings files. */
    public String label() {
        return label;
    }
}
