package dev.ullage.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.cli.show.Terminal;
import dev.ullage.common.testing.Requires;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FishCompletionTest {
    private static String script() {
        StringWriter out = new StringWriter();
        int code = UllageMain.commandLine(new CliEnvironment(
                        Map.of(), new PrintWriter(out), new PrintWriter(new StringWriter()), Terminal.NONE))
                .execute("completion", "fish");
        assertThat(code).isZero();
        return out.toString();
    }

    private static String fish(String... arguments) throws Exception {
        String[] command = new String[arguments.length + 1];
        command[0] = "fish";
        System.arraycopy(arguments, 0, command, 1, arguments.length);
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String answer = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(answer).isZero();
        return answer;
    }

    @Test
    void commandsAndOptionsAreThere() {
        assertThat(script())
                .contains("complete -c ullage -n '__fish_use_subcommand' -f -a drain -d '")
                .contains("'__fish_seen_subcommand_from set; and not __fish_seen_subcommand_from reserve share policy"
                        + " priority limit' -f -a limit")
                .contains("'__fish_seen_subcommand_from drain' -l reason -r");
    }

    // Goal: a script that works. Method: fish itself reads it and completes by it.
    @Test
    void fishCompletesWithIt(@TempDir Path folder) throws Exception {
        Requires.command("fish", "fish");
        Path script = Files.writeString(folder.resolve("ullage.fish"), script());

        assertThat(fish("-n", script.toString())).isEmpty();
        assertThat(fish("-c", "source " + script + "; complete -C 'ullage dr'")).startsWith("drain\t");
        assertThat(fish("-c", "source " + script + "; complete -C 'ullage set pri'"))
                .startsWith("priority\t");
        assertThat(fish("-c", "source " + script + "; complete -C 'ullage drain --rea'"))
                .startsWith("--reason\t");
    }
}
