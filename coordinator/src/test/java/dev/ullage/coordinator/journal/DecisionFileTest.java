package dev.ullage.coordinator.journal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.config.DecisionLogSettings;
import dev.ullage.coordinator.decisions.Decision;
import dev.ullage.coordinator.journal.DecisionJson.Line;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DecisionFileTest {
    private static final DecisionLogSettings SETTINGS = new DecisionLogSettings(true, MemoryBytes.ofMebibytes(64), 2);

    private final Path folder;
    private final Decision decision = Decisions.plan();

    DecisionFileTest(@TempDir Path folder) {
        this.folder = folder;
    }

    private List<String> lines() throws IOException {
        return Files.readAllLines(folder.resolve(DecisionFile.FILE_NAME));
    }

    @Test
    void whatIsWaitingIsWrittenBeforeTheEnd() throws Exception {
        DecisionFile file = DecisionFile.start(folder, SETTINGS);
        for (int i = 0; i < 100; i++) {
            file.accept(decision);
        }
        file.close();

        assertThat(lines()).hasSize(100).containsOnly(DecisionJson.line(decision));
        assertThat(file.counts()).isEqualTo(new DecisionCounts(100, 0));
    }

    // Goal: whoever hands a decision over never waits, and what is lost is said. Method: nobody writes until the queue
    // is over full.
    @Test
    void whatDoesNotFitIsDroppedCountedAndSaid() throws Exception {
        DecisionFile file = DecisionFile.idle(folder, SETTINGS);
        for (int i = 0; i < DecisionFile.WAITING_AT_MOST + 3; i++) {
            file.accept(decision);
        }
        assertThat(file.counts()).isEqualTo(new DecisionCounts(0, 3));
        file.begin();
        file.close();

        assertThat(file.counts()).isEqualTo(new DecisionCounts(DecisionFile.WAITING_AT_MOST, 3));
        assertThat(lines()).hasSize(DecisionFile.WAITING_AT_MOST + 1);
        assertThat(DecisionJson.parse(lines().get(0))).isEqualTo(new Line.Dropped(3));
    }

    @Test
    void aFolderThatCannotBeWrittenCostsRecordsAndNothingElse() {
        DecisionFile file = DecisionFile.start(folder.resolve("not/there"), SETTINGS);
        file.accept(decision);
        file.accept(decision);
        file.close();

        assertThat(file.counts()).isEqualTo(new DecisionCounts(0, 2));
    }

    @Test
    void afterTheEndNothingIsTaken() {
        DecisionFile file = DecisionFile.start(folder, SETTINGS);
        file.close();
        file.accept(decision);

        assertThat(file.counts()).isEqualTo(new DecisionCounts(0, 1));
    }
}
