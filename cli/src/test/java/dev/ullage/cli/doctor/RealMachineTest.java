package dev.ullage.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.config.SettingsException;
import dev.ullage.config.SettingsLoader;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RealMachineTest {
    private static Machine machine() throws SettingsException {
        Map<String, String> variables = Map.of("HOME", "/nowhere");
        return new RealMachine(variables, SettingsLoader.load(Optional.empty(), List.of(), variables));
    }

    @Test
    void whatACommandPrintsOrWhyItDoesNot() throws SettingsException {
        Machine machine = machine();

        assertThat(machine.run(List.of("sh", "-c", "echo two; echo words; echo noise >&2")))
                .isEqualTo(new Machine.Printed(Optional.of("two\nwords\n"), ""));
        assertThat(machine.run(List.of("sh", "-c", "echo words; exit 3")).failure())
                .isEqualTo("it ended with code 3");
    }

    /** More than fits into a pipe is no hang, and what never ends is not waited for. */
    @Test
    void aCommandThatPrintsTooMuchIsToldFromOneThatHangs() throws SettingsException {
        Machine machine = machine();

        assertThat(machine.run(List.of("head", "-c", "500000", "/dev/zero")).output())
                .isPresent();
        for (List<String> command : List.of(List.of("head", "-c", "30000000", "/dev/zero"), List.of("yes"))) {
            assertThat(machine.run(command).failure())
                    .as(command.toString())
                    .isEqualTo("it prints more than 1.0 MiB and was ended");
        }
    }
}
