package dev.ullage.worker.ranks;

/** A way to send to a rank. Never blocks: a peer that does not read is disconnected, and says hello again later. */
interface RankChannel {

    /** Queues a line; does nothing on a closed channel. */
    void send(byte[] line);

    void close();
}
