package dev.ullage.cli.run;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigList;
import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigOrigin;
import com.typesafe.config.ConfigParseOptions;
import com.typesafe.config.ConfigSyntax;
import com.typesafe.config.ConfigValue;
import com.typesafe.config.ConfigValueType;
import dev.ullage.cli.run.JobNode.Document;
import dev.ullage.cli.run.JobNode.Entry;
import dev.ullage.cli.run.JobNode.Items;
import dev.ullage.cli.run.JobNode.Scalar;
import dev.ullage.cli.run.JobNode.Section;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Reads a job file in HOCON or JSON, like the settings. Its parser tells lines and no columns. */
final class HoconJobReader {
    private static final String ANY = "value";

    private final Path file;

    private HoconJobReader(Path file) {
        this.file = file;
    }

    /** @throws IOException when it cannot be read, or its syntax is wrong */
    static Document read(Path file, ConfigSyntax syntax) throws IOException {
        try {
            Config config = ConfigFactory.parseFile(
                            file.toFile(),
                            ConfigParseOptions.defaults().setAllowMissing(false).setSyntax(syntax))
                    .resolve();
            return new Document(new HoconJobReader(file).section(config.root()), List.of());
        } catch (ConfigException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    private Section section(ConfigObject object) {
        Map<String, Entry> entries = new LinkedHashMap<>();
        object.forEach((name, value) -> entries.put(name, new Entry(place(value.origin()), node(value))));
        return new Section(place(object.origin()), entries);
    }

    private JobNode node(ConfigValue value) {
        if (value instanceof ConfigObject object) {
            return section(object);
        }
        String place = place(value.origin());
        if (value instanceof ConfigList list) {
            return new Items(place, list.stream().map(this::node).toList());
        }
        return value.valueType() == ConfigValueType.NULL
                ? new Scalar(place, "null", null)
                : new Scalar(place, value.atKey(ANY).getString(ANY), value.unwrapped());
    }

    private String place(ConfigOrigin origin) {
        String name = Optional.ofNullable(origin.filename()).orElse(file.toString());
        return origin.lineNumber() > 0 ? name + ":" + origin.lineNumber() : name;
    }
}
