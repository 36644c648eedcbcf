package dev.ullage.worker.probe;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import java.nio.ByteBuffer;

/**
 * Native memory that the calls of one thread write their answers into: to allocate it for each call, and to have it
 * collected afterwards, would cost more than the call. What is in it is of use until the thread's next call.
 */
final class NvmlScratch {
    private static final int FEWEST_BYTES = 128 * NvmlLibrary.PROCESS_BYTES;
    private static final ThreadLocal<NvmlScratch> OF_THREAD = ThreadLocal.withInitial(NvmlScratch::new);

    private final Memory number = new Memory(Integer.BYTES);
    private final Memory other = new Memory(Integer.BYTES);
    private final Memory memory = new Memory(NvmlLibrary.MEMORY_V2_BYTES);
    private Memory list = new Memory(FEWEST_BYTES);
    private ByteBuffer view = viewOf(list);

    private NvmlScratch() {}

    static NvmlScratch ofThisThread() {
        return OF_THREAD.get();
    }

    private static ByteBuffer viewOf(Memory list) {
        return list.getByteBuffer(0, list.size());
    }

    /** Room for an {@code unsigned int}. */
    Pointer number() {
        return number;
    }

    /** Room for another one. */
    Pointer other() {
        return other;
    }

    /** Room for an {@code nvmlMemory_v2_t}, with nothing in it but its version. */
    Pointer memoryV2() {
        memory.clear();
        memory.setInt(0, NvmlLibrary.MEMORY_V2_VERSION);
        return memory;
    }

    /** How long a list may be without more room being allocated for it. */
    int listBytes() {
        return (int) list.size();
    }

    /** Room for a list of so many bytes, all of them 0: what a driver does not write is not of an earlier answer. */
    Pointer clearedList(int bytes) {
        if (bytes > list.size()) {
            list = new Memory(bytes);
            view = viewOf(list);
        }
        list.clear(bytes);
        return list;
    }

    /** What is in the list, in the machine's order of bytes. */
    ByteBuffer list() {
        return view;
    }
}
