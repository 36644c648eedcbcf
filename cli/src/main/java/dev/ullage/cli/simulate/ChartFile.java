package dev.ullage.cli.simulate;

import dev.ullage.cli.CommandFailure;
import dev.ullage.cli.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Locale;
import java.util.Optional;

/** Where a chart goes; the ending of its name says in which form. */
record ChartFile(Path file) {

    /** What a chart draws itself on. */
    interface Drawing {
        void on(ChartCanvas canvas);
    }

    /** Why no chart could be written there, as far as one can tell before it is worked out; empty: none is known. */
    Optional<String> refusal() {
        if (!isPng() && !name().endsWith(".svg")) {
            return Optional.of("--chart must end in .svg or .png: " + file);
        }
        Path folder = folder();
        if (!Files.isDirectory(folder)) {
            return Optional.of("--chart is to be in a folder that is not there: " + folder);
        }
        if (Files.isDirectory(file) || !Files.isWritable(folder)) {
            return Optional.of("--chart cannot be written: " + file);
        }
        return Optional.empty();
    }

    private String name() {
        return String.valueOf(file.getFileName()).toLowerCase(Locale.ROOT);
    }

    private boolean isPng() {
        return name().endsWith(".png");
    }

    private Path folder() {
        Path parent = file.toAbsolutePath().getParent();
        return parent == null ? file.toAbsolutePath() : parent;
    }

    /** All of it or nothing: a reader never meets half a file. */
    void write(int width, int height, Drawing drawing) throws CommandFailure {
        byte[] picture = picture(width, height, drawing);
        try {
            Path target = file.toAbsolutePath();
            // Not a temporary file of the library, which only its owner may read: this one has the mode of any new
            // file.
            Path part = folder().resolve("%s.%d.part"
                    .formatted(target.getFileName(), ProcessHandle.current().pid()));
            try {
                Files.write(part, picture, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
                Files.move(part, target, StandardCopyOption.REPLACE_EXISTING);
            } finally {
                Files.deleteIfExists(part);
            }
        } catch (IOException e) {
            throw new CommandFailure(ExitCode.FAILED, "the chart cannot be written to %s: %s".formatted(file, e), e);
        }
    }

    private byte[] picture(int width, int height, Drawing drawing) throws CommandFailure {
        if (!isPng()) {
            ChartCanvas canvas = new SvgCanvas(width, height);
            drawing.on(canvas);
            return canvas.file();
        }
        try {
            ChartCanvas canvas = new PngCanvas(width, height);
            drawing.on(canvas);
            return canvas.file();
        } catch (RuntimeException | LinkageError e) {
            throw new CommandFailure(
                    ExitCode.FAILED,
                    "this Java cannot draw a PNG, which needs a font on the machine; a .svg needs none: " + e,
                    e);
        }
    }
}
