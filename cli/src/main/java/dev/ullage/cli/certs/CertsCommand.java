package dev.ullage.cli.certs;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.cli.CliEnvironment;
import dev.ullage.cli.CommandFailure;
import dev.ullage.cli.ExitCode;
import dev.ullage.config.HostName;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** {@code ullage certs}: what encrypted traffic needs, to try it. */
@Command(
        name = "certs",
        description =
                "Makes an authority and certificates of it, for encrypted traffic between nodes and with the API.",
        footer = {
            "",
            "DIR gets ca.crt and ca.key, and NAME.crt and NAME.key for each node: PEM, mode 0600. An authority that is"
                    + " there already issues further certificates. Nothing is overwritten.",
            "Each node needs ca.crt and its own two files, never ca.key. Who has ca.key can let anybody in."
        })
public final class CertsCommand implements Callable<Integer> {
    private static final int SCHEMA = 1;
    private static final int MAX_DAYS = 3650;
    private static final int MAX_NODES = 1000;

    private final CliEnvironment environment;

    @Option(names = "--out", paramLabel = "DIR", required = true, description = "Where the files go.")
    private Path out = Path.of("");

    @Option(
            names = "--nodes",
            paramLabel = "NAME[=ADDRESS]",
            split = ",",
            converter = NodeConverter.class,
            description = "The nodes, with commas between them: a name, and an address where it is not the name."
                    + " Default: this host.")
    private @Nullable List<NamedNode> nodes;

    @Option(
            names = "--days",
            paramLabel = "N",
            defaultValue = "365",
            description = "How long the nodes' certificates are in force: 1 to 3650 (default: ${DEFAULT-VALUE}).")
    private int days;

    @Option(names = "--json", description = "What was made, as JSON.")
    private boolean json;

    @Spec
    private @Nullable CommandSpec spec;

    public CertsCommand(CliEnvironment environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() throws CommandFailure {
        List<NamedNode> wanted = nodes == null ? List.of(thisHost()) : nodes;
        check(wanted);
        Path folder = out.toAbsolutePath().normalize();
        try {
            List<Path> files = new TestAuthority(folder).issue(wanted, days);
            show(folder, files, wanted.get(0));
            return ExitCode.OK.code();
        } catch (FileAlreadyExistsException e) {
            throw new CommandFailure(ExitCode.REFUSED, String.valueOf(e.getMessage()), e);
        } catch (IOException e) {
            throw new CommandFailure(ExitCode.FAILED, String.valueOf(e.getMessage()), e);
        }
    }

    private NamedNode thisHost() {
        try {
            return NamedNode.parse(HostName.of(environment.variables()));
        } catch (IllegalArgumentException e) {
            throw usage("this host's name does not do; say --nodes: " + e.getMessage());
        }
    }

    private void check(List<NamedNode> wanted) {
        if (days < 1 || days > MAX_DAYS) {
            throw usage("--days must be from 1 to " + MAX_DAYS + ", not " + days);
        }
        if (wanted.size() > MAX_NODES) {
            throw usage("--nodes takes at most " + MAX_NODES + " nodes, not " + wanted.size());
        }
        TreeSet<String> names = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
        wanted.forEach(node -> {
            if (!names.add(node.name())) {
                throw usage("--nodes names " + node.name() + " twice");
            }
        });
    }

    private ParameterException usage(String message) {
        if (spec == null) {
            throw new IllegalStateException(message);
        }
        return new ParameterException(spec.commandLine(), message);
    }

    private void show(Path folder, List<Path> files, NamedNode first) {
        PrintWriter to = environment.out();
        if (json) {
            ObjectNode all = JsonNodeFactory.instance.objectNode();
            all.put("schema", SCHEMA);
            all.put("days", days);
            ArrayNode list = all.putArray("files");
            files.forEach(file -> list.add(file.toString()));
            to.println(all);
        } else {
            files.forEach(to::println);
            to.printf("%nOn %s, in its settings (the same for the others):%n", first.name());
            to.printf("  ullage.cluster { transport = tls-tcp, tls {%n");
            to.printf("    certificate = \"%s\"%n", folder.resolve(first.certificateFile()));
            to.printf("    key = \"%s\"%n", folder.resolve(first.keyFile()));
            to.printf("    ca = \"%s\" } }%n", folder.resolve(TestAuthority.CERTIFICATE_FILE));
        }
        to.flush();
    }

    private static final class NodeConverter implements ITypeConverter<NamedNode> {
        @Override
        public NamedNode convert(String text) {
            try {
                return NamedNode.parse(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(String.valueOf(e.getMessage()));
            }
        }
    }
}
