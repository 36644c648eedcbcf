package dev.ullage.worker.ranks;

/** What the socket's threads ask of the rest of the worker. All methods return at once. */
interface RankGate {

    RankCodec codec();

    /**
     * Checks a hello and passes it on.
     *
     * @param peerUser the user at the other end, by the socket's credentials
     */
    void hello(RankMessage.Hello hello, String peerUser, SessionConnection connection) throws BadMessageException;

    /** A line on a connection whose hello was accepted. */
    void said(SessionConnection connection, RankMessage message) throws BadMessageException;

    /** The session that a call connection belongs to. */
    SessionHandle attach(RankMessage.Attach attach) throws BadMessageException;

    void disconnected(SessionConnection connection);
}
