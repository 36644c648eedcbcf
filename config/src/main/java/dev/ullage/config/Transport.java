package dev.ullage.config;

/** What carries messages between nodes. Only {@link #TLS_TCP} encrypts and asks who is there. */
public enum Transport {
    TCP("tcp"),
    TLS_TCP("tls-tcp"),
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
