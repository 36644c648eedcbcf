package dev.ullage.worker;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.worker.WorkerStartException.Kind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Exclusive locks on what a worker owns: its state folder, and each real device host-wide, so that two workers never
 * promise the same memory. The kernel drops the locks when the process ends, however it ends.
 */
final class OwnershipLocks implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(OwnershipLocks.class);

    private final List<FileChannel> held = new ArrayList<>();

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
        FileChannel channel;
        try {
            channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        } catch (IOException e) {
            throw unusable(file, e);
        }
        try {
            FileLock lock = channel.tryLock();
            if (lock == null) {
                channel.close();
                return false;
            }
            channel.truncate(0);
            channel.write(ByteBuffer.wrap((ProcessHandle.current().pid() + "\n").getBytes(StandardCharsets.UTF_8)));
            held.add(channel);
            return true;
        } catch (OverlappingFileLockException e) {
            close(channel);
            return false;
        } catch (IOException e) {
            close(channel);
            throw unusable(file, e);
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
        held.forEach(OwnershipLocks::close);
        held.clear();
    }
}
