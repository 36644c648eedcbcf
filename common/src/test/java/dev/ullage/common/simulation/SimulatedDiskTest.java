package dev.ullage.common.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class SimulatedDiskTest {

    @Test
    void aCrashKeepsAllThatWasSyncedAndSomeFirstPartOfTheRest() {
        Set<String> seen = new TreeSet<>();
        for (long seed = 0; seed < 50; seed++) {
            SimulatedDisk<String> disk = new SimulatedDisk<>();
            disk.append(List.of("a", "b"));
            disk.sync();
            disk.append(List.of("c", "d"));
            disk.append(List.of("e"));
            disk.crash(new Dice(seed));
            seen.add(String.join("", disk.read()));
        }
        assertThat(seen).containsExactly("ab", "abcd", "abcde");
    }

    @Test
    void aReplacementIsDurableAtOnce() {
        SimulatedDisk<String> disk = new SimulatedDisk<>();
        disk.append(List.of("a"));
        disk.replaceBy(List.of("snapshot"));
        disk.crash(new Dice(1));

        assertThat(disk.read()).containsExactly("snapshot");
    }
}
