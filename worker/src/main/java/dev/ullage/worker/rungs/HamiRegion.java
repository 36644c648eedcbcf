package dev.ullage.worker.rungs;

import dev.ullage.common.model.Counts;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.MemoryBytes;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.charset.StandardCharsets;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.OptionalInt;

/**
 * The memory that HAMi-core's processes of one container share, as its version 1.2 lays it out on x86-64
 * ({@code shared_region_t} of Project-HAMi/HAMi-core, src/multiprocess/multiprocess_memory_limit.h). Everything in it
 * is little-endian and aligned. Not thread safe.
 */
final class HamiRegion {
    static final int MAGIC = 19920718;
    static final int MAJOR = 1;
    static final int MINOR = 2;
    static final int MAX_DEVICES = 16;
    static final int BYTES = 2_008_952;

    private static final int MAJOR_AT = 4;
    private static final int MINOR_AT = 8;
    private static final int DEVICES_AT = 56;
    private static final int UUIDS_AT = 64;
    private static final int UUID_BYTES = 96;
    static final int LIMITS_AT = 1600;
    private static final int PROCESSES_AT = 1856;
    private static final int PROCESS_BYTES = 1960;
    private static final int MAX_PROCESSES = 1024;

    /** In a process' entry: after its two pids, for each device eight words, of which the fifth is the total. */
    private static final int USED_AT = 8;

    private static final int USED_BYTES = 64;
    private static final int USED_TOTAL_AT = 32;

    private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private final MappedByteBuffer memory;

    private HamiRegion(MappedByteBuffer memory) {
        this.memory = memory;
        memory.order(ByteOrder.LITTLE_ENDIAN);
    }

    /**
     * Maps the region.
     *
     * @throws IOException when it cannot be, or is none, or one of another version: with a message for people
     */
    static HamiRegion map(Path file) throws IOException {
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
            if (channel.size() < BYTES) {
                throw new IOException("it has " + channel.size() + " bytes, a region of version 1.2 has " + BYTES);
            }
            HamiRegion region = new HamiRegion(channel.map(MapMode.READ_WRITE, 0, BYTES));
            region.check();
            return region;
        }
    }

    private void check() throws IOException {
        int magic = memory.getInt(0);
        if (magic != MAGIC) {
            throw new IOException("it is not set up: it begins with " + magic + ", a region with " + MAGIC);
        }
        int major = memory.getInt(MAJOR_AT);
        int minor = memory.getInt(MINOR_AT);
        if (major != MAJOR || minor != MINOR) {
            throw new IOException("its layout is %d.%d, and only %d.%d is known".formatted(major, minor, MAJOR, MINOR));
        }
        if (devices() < 1 || devices() > MAX_DEVICES) {
            throw new IOException("it names " + Counts.of(devices(), "device"));
        }
    }

    long devices() {
        return memory.getLong(DEVICES_AT);
    }

    /** The place of a device, by its UUID; indices mean different things to CUDA and to NVML. */
    OptionalInt slot(DeviceId device) {
        for (int slot = 0; slot < devices(); slot++) {
            byte[] uuid = new byte[UUID_BYTES];
            memory.get(UUIDS_AT + slot * UUID_BYTES, uuid);
            String text = new String(uuid, StandardCharsets.ISO_8859_1);
            int end = text.indexOf('\0');
            if ((end < 0 ? text : text.substring(0, end)).equals(device.value())) {
                return OptionalInt.of(slot);
            }
        }
        return OptionalInt.empty();
    }

    /** What its processes use on the device, by their own count. */
    MemoryBytes used(int slot) throws IOException {
        long sum = 0;
        for (int process = 0; process < MAX_PROCESSES; process++) {
            int entry = PROCESSES_AT + process * PROCESS_BYTES;
            if (memory.getInt(entry) != 0) {
                sum += (long)
                        LONGS.getVolatile((ByteBuffer) memory, entry + USED_AT + slot * USED_BYTES + USED_TOTAL_AT);
            }
        }
        return amount(sum, "use");
    }

    MemoryBytes limit(int slot) throws IOException {
        return amount((long) LONGS.getVolatile((ByteBuffer) memory, LIMITS_AT + slot * Long.BYTES), "limit");
    }

    /** @param limit 1 byte or more: 0 is no limit to HAMi-core */
    void setLimit(int slot, MemoryBytes limit) {
        LONGS.setVolatile((ByteBuffer) memory, LIMITS_AT + slot * Long.BYTES, Math.max(1, limit.value()));
    }

    private static MemoryBytes amount(long bytes, String what) throws IOException {
        if (bytes < 0) {
            throw new IOException("its " + what + " is " + Long.toUnsignedString(bytes) + " bytes, which cannot be");
        }
        return MemoryBytes.of(bytes);
    }
}
