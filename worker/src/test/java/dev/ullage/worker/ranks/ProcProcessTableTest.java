package dev.ullage.worker.ranks;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ullage.worker.ranks.ProcessTable.ProcessFacts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcProcessTableTest {
    private final String me = System.getProperty("user.name");
    private Path root;
    private ProcProcessTable table;

    @BeforeEach
    void anEmptyProc(@TempDir Path temporary) {
        root = temporary;
        table = new ProcProcessTable(root);
    }

    private void process(long pid, String name, String state, int threads) throws IOException {
        Files.createDirectories(root.resolve(Long.toString(pid)));
        String stat = pid + " (" + name + ") " + state + " 1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 " + threads
                + " 0 987654 1000 200 18446744073709551615\n";
        Files.writeString(root.resolve(pid + "/stat"), stat, ISO_8859_1);
    }

    @Test
    void aProcessHasItsStartTimeAndItsUser() throws IOException {
        process(42, "python3", "S", 1);

        assertThat(table.find(42)).contains(new ProcessFacts(987654, me));
    }

    private void contained(long pid, long ownPid, String namespace) throws IOException {
        process(pid, "python3", "S", 1);
        Files.writeString(root.resolve(pid + "/status"), "PPid:\t1\nNSpid:\t" + pid + "\t" + ownPid + "\n");
        Files.createDirectories(root.resolve(pid + "/ns"));
        Files.createSymbolicLink(root.resolve(pid + "/ns/pid"), Path.of("pid:[" + namespace + "]"));
    }

    @Test
    void aProcessOfAContainerIsFoundByItsOwnPidStartAndNamespace() throws IOException {
        contained(900, 7, "11");
        contained(901, 8, "11");
        contained(950, 7, "12");

        assertThat(table.pidHere(8, 11, 987654)).hasValue(901);
        assertThat(table.pidHere(7, 11, 987654))
                .as("two containers have a process 7")
                .hasValue(900);
        assertThat(table.pidHere(7, 12, 987654)).hasValue(950);
        assertThat(table.pidHere(7, 13, 987654)).as("neither is in that one").isEmpty();
        assertThat(table.pidHere(8, 11, 5)).as("started at another time").isEmpty();
        assertThat(table.pidHere(901, 11, 987654)).as("no one calls itself so").isEmpty();
    }

    @Test
    void inTheWorkersOwnNamespaceAPidIsWhatItIs() throws IOException {
        Files.createDirectories(root.resolve("self/ns"));
        Files.createSymbolicLink(root.resolve("self/ns/pid"), Path.of("pid:[4026531836]"));

        assertThat(table.pidHere(77, 4026531836L, 1)).hasValue(77);
    }

    @Test
    void theNameMayHoldBlanksAndBracketsAndLinesAndWhatIsNoText() throws IOException {
        for (String name : new String[] {"my (odd) name", ") S 1 2", "a\nb", "\u00ff\u00fe", "", "))"}) {
            process(42, name, "R", 1);

            assertThat(table.find(42)).as(name).contains(new ProcessFacts(987654, me));
        }
    }

    @Test
    void aZombieIsGone() throws IOException {
        process(42, "python3", "Z", 1);
        process(43, "python3", "X", 1);

        assertThat(table.find(42)).isEmpty();
        assertThat(table.find(43)).isEmpty();
    }

    @Test
    void aProcessWhoseFirstThreadEndedLivesOnInTheOthers() throws IOException {
        process(42, "python3", "Z", 3);

        assertThat(table.find(42)).isPresent();
    }

    @Test
    void whatDoesNotExistIsGone() throws IOException {
        assertThat(table.find(42)).isEmpty();
        assertThat(table.find(0)).isEmpty();
        assertThat(table.find(Long.MAX_VALUE)).isEmpty();
    }

    @Test
    void whatCannotBeReadIsNotTakenForGone() throws IOException {
        Files.createDirectories(root.resolve("42/stat"));
        assertThatThrownBy(() -> table.find(42)).isInstanceOf(IOException.class);

        Files.createDirectories(root.resolve("43"));
        Files.writeString(root.resolve("43/stat"), "43 (cut sho");
        assertThatThrownBy(() -> table.find(43))
                .isInstanceOf(IOException.class)
                .hasMessage("process 43: " + root.resolve("43/stat") + " is not as expected");
    }

    @Test
    void thisProcessIsFoundInTheRealProc() throws IOException {
        Path proc = Path.of("/proc");
        assumeTrue(Files.exists(proc.resolve("self/stat")), "no /proc here");
        ProcProcessTable real = new ProcProcessTable(proc);
        long pid = ProcessHandle.current().pid();

        assertThat(real.find(pid)).isEqualTo(real.find(pid));
        assertThat(real.find(pid).orElseThrow().user()).isEqualTo(me);
        assertThat(real.find(pid).orElseThrow().startTicks()).isPositive();
    }

    @Test
    void aChildThatEndedIsGoneAlsoWhileNobodyReapedIt() throws Exception {
        assumeTrue(Files.exists(Path.of("/proc/self/stat")), "no /proc here");
        ProcProcessTable real = new ProcProcessTable(Path.of("/proc"));
        Process child = new ProcessBuilder("sleep", "60").start();
        assertThat(real.find(child.pid())).isPresent();

        child.destroyForcibly().waitFor();

        assertThat(real.find(child.pid())).isEmpty();
    }
}
