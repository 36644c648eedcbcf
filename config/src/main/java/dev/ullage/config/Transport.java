package dev.ullage.config;

/** What carries messages between nodes. Neither encrypts. */
public enum Transport {
    TCP("tcp"),
    AERON_UDP("aeron-udp");

    private final String label;

    Transport(String label) {
        this.label = label;
    }

    /** The name in settings files, and Pekko's own. */
    public String label() {
        return label;
    }
}
