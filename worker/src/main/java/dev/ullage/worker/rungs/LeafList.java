package dev.ullage.worker.rungs;

import dev.ullage.common.model.DeviceId;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * The cgroups that a worker limits or made for ranks, one small file for each in its state folder, written before that
 * is done: so what a crash left behind is known, and its guarantee is given back.
 */
final class LeafList {
    private final Path folder;

    LeafList(Path folder) {
        this.folder = folder;
    }

    /** A rank's cgroup, and the device it is limited on. */
    record Leaf(DeviceId device, Path cgroup) {}

    void add(Leaf leaf) throws IOException {
        Files.createDirectories(folder);
        byte[] text = (leaf.device().value() + "\n" + leaf.cgroup() + "\n").getBytes(StandardCharsets.UTF_8);
        try (FileChannel file = FileChannel.open(
                fileOf(leaf.cgroup()),
                StandardOpenOption.CREATE,
                StandardOpenOption.WRITE,
                StandardOpenOption.TRUNCATE_EXISTING)) {
            ByteBuffer bytes = ByteBuffer.wrap(text);
            while (bytes.hasRemaining()) {
                file.write(bytes);
            }
            file.force(true);
        }
    }

    boolean has(Path cgroup) {
        return Files.exists(fileOf(cgroup));
    }

    void remove(Path cgroup) throws IOException {
        Files.deleteIfExists(fileOf(cgroup));
    }

    /** Every one in the list; a file that a crash cut short names none, because nothing was done about it yet. */
    List<Leaf> all() throws IOException {
        List<Leaf> leaves = new ArrayList<>();
        if (!Files.isDirectory(folder)) {
            return leaves;
        }
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            for (Path file : files) {
                List<String> lines = Files.readAllLines(file);
                if (lines.size() == 2) {
                    leaves.add(new Leaf(new DeviceId(lines.get(0)), Path.of(lines.get(1))));
                }
            }
        }
        return leaves;
    }

    private Path fileOf(Path cgroup) {
        return folder.resolve(URLEncoder.encode(cgroup.toString(), StandardCharsets.UTF_8));
    }
}
