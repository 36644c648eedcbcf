package dev.ullage.worker.probe.smi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.MemoryBytes;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Goal: an output that came to us broken shows no figure that the whole one does not have. Method: every recording, cut
 * off at many places, and the ways in which people send one.
 */
class SmiBrokenOutputTest {
    private static final String GPUS =
            "/nvidia-smi/nge-linux-x86_64__nvidia-h100-80gb-hbm3__590.48.01-load-query-gpu-subset.csv";
    private static final String PROCESSES =
            "/nvidia-smi/nge-linux-x86_64__nvidia-h100-80gb-hbm3__590.48.01-load-compute-apps.csv";
    private static final int CUTS = 600;

    private static void add(Set<Long> figures, SmiAmount amount) {
        amount.bytes().map(MemoryBytes::value).ifPresent(figures::add);
    }

    private static void add(Set<Long> figures, SmiMemory memory) {
        add(figures, memory.total());
        add(figures, memory.reserved());
        add(figures, memory.used());
        add(figures, memory.free());
    }

    private static Set<Long> figures(SmiReport report) {
        Set<Long> figures = new TreeSet<>();
        for (SmiGpu gpu : report.gpus()) {
            add(figures, gpu.memory());
            gpu.mig().devices().forEach(device -> add(figures, device.memory()));
            gpu.processes()
                    .ifPresent(list -> list.forEach(process -> {
                        add(figures, process.used());
                        figures.add(-process.pid());
                    }));
        }
        return figures;
    }

    @ParameterizedTest
    @MethodSource("dev.ullage.worker.probe.smi.SmiRecordingsTest#recordings")
    void aCutRecordingHasNoFigureThatTheWholeOneHasNot(String file) {
        String text = Recordings.text("/nvidia-smi/" + file);
        Set<Long> whole = figures(SmiOutput.parse(text));
        int step = Math.max(1, text.length() / CUTS);
        for (int length = 0; length < text.length(); length += step) {
            SmiReport cut = SmiOutput.parse(text.substring(0, length));
            boolean isMarked = cut.problems().stream().anyMatch(problem -> problem.contains("cut off"));
            assertThat(whole.containsAll(figures(cut)) || isMarked)
                    .as("the first %d characters: %s", length, cut)
                    .isTrue();
            SmiDevices.of(cut, Optional.empty());
        }
    }

    @Test
    void aLastFigureWithoutItsUnitIsCutOff() {
        String whole = Recordings.text(PROCESSES).stripTrailing();
        SmiProcess last = last(whole.substring(0, whole.length() - "0 MiB".length()));
        assertThat(last.used()).isEqualTo(SmiAmount.unknown("'1569...' is cut off"));
        assertThat(last(whole).used()).isEqualTo(SmiAmount.of(MemoryBytes.ofMebibytes(15690)));
    }

    private static SmiProcess last(String text) {
        var processes = SmiOutput.parse(text).gpus().get(0).processes().orElseThrow();
        return processes.get(processes.size() - 1);
    }

    // As nvidia-smi -l prints them: processes of an earlier moment do not add to those of the last.
    @Test
    void ofSeveralTablesTheLastCounts() {
        String idle = Recordings.text(
                "/nvidia-smi/nge-linux-x86_64__nvidia-geforce-rtx-2080-super__595.71.05-idle-table.txt");
        String load = Recordings.text(
                "/nvidia-smi/nge-linux-x86_64__nvidia-geforce-rtx-2080-super__595.71.05-load-table.txt");

        SmiReport both = SmiOutput.parse(load + idle);
        assertThat(figures(both)).isEqualTo(figures(SmiOutput.parse(idle)));
        assertThat(both.problems()).containsExactly("the last of 2 tables is shown");
    }

    @Test
    void whereTheListOfDevicesStandsBesideATableItIsSaidThatOnlyTheListIsRead() {
        String table = Recordings.text(
                "/nvidia-smi/nge-linux-x86_64__nvidia-geforce-rtx-2080-super__595.71.05-idle-table.txt");

        SmiReport report = SmiOutput.parse(table + "GPU 0: NVIDIA A10 (UUID: GPU-1)\n");
        assertThat(report.problems())
                .containsExactly(
                        "the text has several outputs, and only that of -L is read; give each a file of its own");
    }

    // A single row has no other that would show whether figures have a unit.
    @Test
    void aLastFigureWithoutAnEndIsUnknownAlsoWhereNoFigureHasAUnit() {
        String plain = Recordings.text(PROCESSES).replace(" MiB", "").stripTrailing();
        assertThat(last(plain).used()).isEqualTo(SmiAmount.unknown("'15690...' is cut off"));
        assertThat(last(plain + "\n").used()).isEqualTo(SmiAmount.of(MemoryBytes.ofMebibytes(15690)));

        String one = "pid, used_gpu_memory [MiB]\n5268, 370";
        assertThat(last(one).used().isKnown()).isFalse();
        assertThat(last(one + " MiB").used()).isEqualTo(SmiAmount.of(MemoryBytes.ofMebibytes(370)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"$ nvidia-smi --query-gpu=... --format=csv\n", "```\n", "Last login: today\n\n", ""})
    void whatAShellOrAReportPutsBeforeTheHeaderIsNotInTheWay(String before) {
        SmiReport report = SmiOutput.parse(before + Recordings.text(GPUS));
        assertThat(figures(report)).isEqualTo(figures(SmiOutput.parse(Recordings.text(GPUS))));
        assertThat(report.problems()).isEmpty();
    }

    @Test
    void whatStandsAroundTheXmlIsNotInTheWay() {
        String xml = Recordings.text("/nvidia-smi/telegraf-xml/tesla-t4.xml");
        SmiReport report = SmiOutput.parse("$ nvidia-smi -q -x\n" + xml + "\n```\nthanks");
        assertThat(report).isEqualTo(SmiOutput.parse(xml));
        assertThat(report.gpus()).hasSize(1);
    }

    @Test
    void anIndentedTableIsATable() {
        String table = Recordings.text("/nvidia-smi/pub-08-vgpu-guest-grid-p40-12q-nearly-full.txt");
        assertThat(SmiOutput.parse(table.indent(4))).isEqualTo(SmiOutput.parse(table));
    }

    @ParameterizedTest
    @ValueSource(strings = {"81.559 MiB", "81,559 MiB", "81559.5 MiB", "-1 MiB", "281474976710657 B", "0x13e97 MiB"})
    void aFigureOfAnotherKindIsUnknownAndNeverAnotherFigure(String printed) {
        SmiReport report = SmiOutput.parse(Recordings.text(GPUS).replace("81559 MiB", printed));
        assertThat(report.gpus().get(0).memory().total().bytes()).isEmpty();
        assertThat(report.gpus().get(0).memory().total().reason()).contains(printed);
    }

    @Test
    void aTotalOfNothingIsNoTotal() {
        SmiDevice device = SmiDevices.of(
                        SmiOutput.parse("index, uuid, memory.total [MiB], memory.used [MiB]\n0, GPU-1, 0 MiB, 0 MiB\n"),
                        Optional.empty())
                .devices()
                .get(0);
        assertThat(device.memory().total()).isEqualTo(SmiAmount.unknown("total is 0"));
        assertThat(device.memory().used().isKnown()).isFalse();
        assertThat(device.problems()).contains("a total of 0 cannot be; memory is unknown");
    }

    @Test
    void instancesThatShareOneMemoryAreNotPromisedItEither() {
        SmiReport mig = SmiOutput.parse(
                Recordings.text("/nvidia-smi/nge-linux-x86_64__nvidia-h200-mig__590.48.01-idle-table.txt"));
        SmiDevices seen = SmiDevices.of(mig, Optional.empty());
        assertThat(SmiReadings.reading(seen.devices().get(0)).problems())
                .contains("none of the memory can be promised to one of the instances that share it; memory is unknown."
                        + " Give each a GPU instance of its own");
        assertThat(SmiReadings.reading(seen.devices().get(3)).problems())
                .noneMatch(problem -> problem.contains("none of the memory"));
    }
}
