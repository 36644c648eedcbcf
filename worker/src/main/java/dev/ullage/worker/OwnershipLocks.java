package dev.ullage.worker;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.worker.WorkerStartException.Kind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Exclusive locks on what a worker owns: its state folder, and each real device host-wide, so that two workers never
 * promise the same memory. The kernel drops the locks when the process ends, however it ends.
 */
final class OwnershipLocks implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(OwnershipLocks.class);

    /**
     * The files locked by this process. POSIX drops a process's lock on a file as soon as it closes any descriptor of
     * it, so a second attempt in the same process must not even open one.
     */
    private static final Set<Path> LOCKED = ConcurrentHashMap.newKeySet();

    private final Map<Path, FileChannel> held = new LinkedHashMap<>();

    /** Locks the state folder, which is created if need be. */
    void lockState(Path stateDir) throws WorkerStartException {
        try {
            Files.createDirectories(stateDir);
        } catch (IOException e) {
            throw unusable(stateDir, e);
        }
        if (!tryLock(stateDir.resolve("worker.lock"))) {
            throw new WorkerStartException(
                    Kind.DEVICE_ALREADY_OWNED,
                    "another worker uses the state folder " + stateDir
                            + "; stop it, or give this one a folder of its own with --state");
        }
    }

    /** Locks a real device host-wide. Simulated ones belong to the state folder that is locked already. */
    void lockDevice(DeviceInfo device, Path lockDir) throws WorkerStartException {
        if (device.kind() == DeviceKind.SIMULATED) {
            return;
        }
        try {
            Files.createDirectories(lockDir);
        } catch (IOException e) {
            throw unusable(lockDir, e);
        }
        if (!tryLock(lockDir.resolve(fileName(device.id()) + ".lock"))) {
            throw new WorkerStartException(
                    Kind.DEVICE_ALREADY_OWNED,
                    "DEVICE_ALREADY_OWNED: " + device.name() + " " + device.id()
                            + " belongs to another worker on this host; one worker owns all devices of a host");
        }
    }

    private boolean tryLock(Path file) throws WorkerStartException {
        Path real = file.toAbsolutePath().normalize();
        if (!LOCKED.add(real)) {
            return false;
        }
        boolean locked = false;
        try {
            locked = lock(real);
            return locked;
        } catch (IOException e) {
            throw unusable(file, e);
        } finally {
            if (!locked) {
                LOCKED.remove(real);
            }
        }
    }

    private boolean lock(Path file) throws IOException {
        FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        boolean locked = false;
        try {
            locked = channel.tryLock() != null;
            if (locked) {
                channel.truncate(0);
                channel.write(ByteBuffer.wrap((ProcessHandle.current().pid() + "\n").getBytes(StandardCharsets.UTF_8)));
                held.put(file, channel);
            }
            return locked;
        } finally {
            if (!locked) {
                close(channel);
            }
        }
    }

    /** A device id as a file name. */
    static String fileName(DeviceId device) {
        return device.value().replaceAll("[^A-Za-z0-9._-]", "_");
    }

    private static WorkerStartException unusable(Path path, IOException e) {
        return new WorkerStartException(
                Kind.STATE_UNUSABLE,
                "cannot write " + path + ": " + e.getClass().getSimpleName() + " " + e.getMessage()
                        + "; choose another folder with --state",
                e);
    }

    private static void close(FileChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            LOG.debug("reason=\"a lock file did not close: {}\"", e.getMessage());
        }
    }

    @Override
    public void close() {
        held.values().forEach(OwnershipLocks::close);
        LOCKED.removeAll(held.keySet());
        held.clear();
    }
}
