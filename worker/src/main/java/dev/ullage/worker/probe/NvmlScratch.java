package dev.ullage.worker.probe;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Native memory that the calls of one thread write their answers into: to allocate it for each call, and to have it
 * collected afterwards, would cost more than the call. What is in it is of use until the thread's next call.
 */
final class NvmlScratch {
    private static final int FEWEST_BYTES = 128 * NvmlLibrary.PROCESS_BYTES;
    private static final ThreadLocal<NvmlScratch> OF_THREAD = ThreadLocal.withInitial(NvmlScratch::new);

    private final Block number = new Block(Integer.BYTES);
    private final Block other = new Block(Integer.BYTES);
    private final Block memory = new Block(NvmlLibrary.MEMORY_V2_BYTES);
    private Block list = new Block(FEWEST_BYTES);

    private NvmlScratch() {}

    static NvmlScratch ofThisThread() {
        return OF_THREAD.get();
    }

    /**
     * Some of it, in the machine's order of bytes.
     *
     * @param address for as long as the bytes are held on to
     */
    record Block(ByteBuffer bytes, long address) {
        private Block(int size) {
            this(ByteBuffer.allocateDirect(size).order(ByteOrder.nativeOrder()));
        }

        private Block(ByteBuffer bytes) {
            this(bytes, Pointer.nativeValue(Native.getDirectBufferPointer(bytes)));
        }

        /** The first so many bytes are 0 after that: what a driver does not write is not of an earlier answer. */
        private void clear(int length) {
            new Pointer(address).clear(length);
        }
    }

    /** Room for an {@code unsigned int}. */
    Block number() {
        return number;
    }

    /** Room for another one. */
    Block other() {
        return other;
    }

    /** Room for an {@code nvmlMemory_v2_t}, with nothing in it but its version. */
    Block memoryV2() {
        memory.clear(NvmlLibrary.MEMORY_V2_BYTES);
        memory.bytes().putInt(0, NvmlLibrary.MEMORY_V2_VERSION);
        return memory;
    }

    /** How long a list may be without more room being allocated for it. */
    int listBytes() {
        return list.bytes().capacity();
    }

    /** Room for a list of so many bytes, all of them 0. */
    Block clearedList(int length) {
        if (length > listBytes()) {
            list = new Block(length);
        }
        list.clear(length);
        return list;
    }
}
