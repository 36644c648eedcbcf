package dev.ullage.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.OperatorRecord;
import dev.ullage.common.protocol.OperatorRecord.Drain;
import dev.ullage.common.protocol.OperatorRecord.JobWish;
import dev.ullage.common.protocol.OperatorRecord.RankWish;
import dev.ullage.common.protocol.OperatorRecord.Stamp;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WishFileTest {
    private static final OperatorRecord RECORD = new OperatorRecord(
            new Stamp(new CoordinatorToken(3, "uid"), 17),
            List.of(new Drain(new NodeId("n1"), 1_767_225_600_000L, Optional.of("fan"), Optional.empty())),
            List.of(new JobWish(
                    new JobId("bert"),
                    Optional.of(Share.ofPercent(50)),
                    Optional.of("growth"),
                    Optional.of(Priority.HIGH),
                    List.of(new RankWish(3, Optional.empty(), Optional.of(MemoryBytes.ofGibibytes(30)))))));

    @TempDir
    private Path folder;

    @Test
    void whatIsWrittenIsReadAndOnlyTheNewest() throws IOException {
        WishFile file = new WishFile(folder);
        assertThat(file.read()).isEmpty();
        file.write(new OperatorRecord(new Stamp(new CoordinatorToken(3, "uid"), 16), List.of(), List.of()));
        file.write(RECORD);

        assertThat(new WishFile(folder).read()).contains(RECORD);
        try (var files = Files.list(folder)) {
            assertThat(files).containsExactly(folder.resolve(WishFile.NAME));
        }
    }

    // Goal: what this version wrote can be read by later ones. Method: the text as it is on disk today.
    @Test
    void theNamesInTheFileDoNotChange() throws IOException {
        Files.writeString(
                folder.resolve(WishFile.NAME),
                """
                {"schema":1,"record":{"stamp":{"token":{"epoch":3,"uid":"uid"},"sequence":17},
                 "drains":[{"node":{"value":"n1"},"atMillis":1767225600000,"reason":"fan","by":null}],
                 "jobs":[{"job":{"value":"bert"},"share":{"basisPoints":5000},"policy":"growth","priority":"HIGH",
                  "ranks":[{"rank":3,"share":null,"limit":{"value":32212254720}}]}]}}
                """);

        assertThat(new WishFile(folder).read()).contains(RECORD);
    }

    @Test
    void whatCannotBeReadIsPutAsideAndTheWorkerStartsWithout() throws IOException {
        Path damaged = folder.resolve(WishFile.NAME);
        // The last is a newer version's: without the field it would be another record of the same stamp.
        String newer = "{\"schema\":1,\"record\":{\"stamp\":{\"token\":{\"epoch\":3,\"uid\":\"u\"},\"sequence\":17},"
                + "\"drains\":[],\"jobs\":[],\"addedLater\":[]}}";
        for (String text : List.of("", "{", "[]", "{\"schema\":2,\"record\":{}}", "{\"schema\":1}", newer)) {
            Files.writeString(damaged, text);
            assertThat(new WishFile(folder).read()).as(text).isEmpty();
            assertThat(damaged).doesNotExist();
            assertThat(folder.resolve(WishFile.NAME + ".damaged")).hasContent(text);
        }
    }
}
