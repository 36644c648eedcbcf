package dev.ullage.cli.run;

import dev.ullage.cli.run.JobNode.Document;
import dev.ullage.cli.run.JobNode.Entry;
import dev.ullage.cli.run.JobNode.Items;
import dev.ullage.cli.run.JobNode.Scalar;
import dev.ullage.cli.run.JobNode.Section;
import java.io.IOException;
import java.io.Reader;
import java.io.StringReader;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.Mark;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.NodeTuple;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.SequenceNode;
import org.yaml.snakeyaml.nodes.Tag;

/**
 * Reads a job file in YAML: what JSON would say in other words. Nothing is taken for something else silently:
 * {@code no}, {@code 010}, {@code 1_000} and {@code 1:30} are texts, a name that stands twice, a tag, a merge key and a
 * name without a value are problems. Aliases repeat what their anchors name, up to a bound.
 */
final class YamlJobReader {
    /** Of any kind, with all that aliases repeat. */
    private static final int MOST_VALUES = 10_000;

    private static final int MOST_DEPTH = 16;
    private static final Pattern NUMBER = Pattern.compile("-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?");
    private static final Pattern WHOLE = Pattern.compile("-?[0-9]+");
    private static final Set<String> NONE = Set.of("null", "~");
    /** What a value without a tag may come to by the parser's own rules, beside text. */
    private static final Set<Tag> PLAIN =
            Set.of(Tag.STR, Tag.INT, Tag.FLOAT, Tag.BOOL, Tag.NULL, Tag.TIMESTAMP, Tag.MERGE);

    private final String file;
    private final List<String> problems = new ArrayList<>();
    private int values;

    private YamlJobReader(String file) {
        this.file = file;
    }

    /** @throws IOException when it cannot be read, or its syntax is wrong */
    static Document read(Path file) throws IOException {
        LoaderOptions options = new LoaderOptions();
        options.setMaxAliasesForCollections(MOST_VALUES);
        YamlJobReader reader = new YamlJobReader(file.toString());
        try {
            Reader text = new StringReader(Files.readString(file));
            return reader.document(new Yaml(new SafeConstructor(options)).compose(text));
        } catch (CharacterCodingException e) {
            throw new IOException("it is not in UTF-8", e);
        } catch (MarkedYAMLException e) {
            throw new IOException(reader.wrong(e), e);
        } catch (YAMLException e) {
            throw new IOException(file + ": " + e.getMessage(), e);
        }
    }

    private String wrong(MarkedYAMLException e) {
        String at = Optional.ofNullable(e.getProblemMark()).map(this::place).orElse(file);
        String context =
                Optional.ofNullable(e.getContext()).map(text -> text + ", ").orElse("");
        return at + ": " + context + e.getProblem();
    }

    private Document document(@Nullable Node root) throws IOException {
        if (root == null) {
            return new Document(new Section(file, Map.of()), problems);
        }
        if (root instanceof MappingNode fields) {
            return new Document(section(fields, 1), problems);
        }
        throw new IOException(place(root) + ": a job file has fields, as in \"ranks: 4\"");
    }

    private Section section(MappingNode node, int depth) throws IOException {
        problemOfTag(node, node.getTag().equals(Tag.MAP));
        Map<String, Entry> entries = new LinkedHashMap<>();
        for (NodeTuple tuple : node.getValue()) {
            String at = place(tuple.getKeyNode());
            if (!(tuple.getKeyNode() instanceof ScalarNode key)) {
                problems.add(at + ": a field has a name, not a list or a section for one");
                continue;
            }
            if (key.getTag().equals(Tag.MERGE)) {
                problems.add(at + ": merge keys (<<) are not known here: write the fields out");
                continue;
            }
            Entry before = entries.putIfAbsent(key.getValue(), new Entry(at, node(tuple.getValueNode(), depth)));
            if (before != null) {
                problems.add("%s: %s stands twice in its section, before at %s"
                        .formatted(at, key.getValue(), before.place()));
            }
        }
        return new Section(place(node), entries);
    }

    private JobNode node(Node node, int depth) throws IOException {
        if (depth > MOST_DEPTH || ++values > MOST_VALUES) {
            throw new IOException("%s: a job file has at most %d values, with what aliases repeat, %d deep"
                    .formatted(place(node), MOST_VALUES, MOST_DEPTH));
        }
        if (node instanceof MappingNode section) {
            return section(section, depth + 1);
        }
        if (node instanceof SequenceNode list) {
            problemOfTag(list, list.getTag().equals(Tag.SEQ));
            List<JobNode> items = new ArrayList<>();
            for (Node item : list.getValue()) {
                items.add(node(item, depth + 1));
            }
            return new Items(place(list), items);
        }
        return scalar((ScalarNode) node);
    }

    private Scalar scalar(ScalarNode node) {
        String text = node.getValue();
        boolean isText = !node.isPlain() || node.getTag().equals(Tag.STR);
        problemOfTag(
                node,
                node.isPlain() ? PLAIN.contains(node.getTag()) : node.getTag().equals(Tag.STR));
        if (!isText && text.isEmpty()) {
            problems.add(place(node) + ": there is no value: leave the name out, or write null");
        }
        return new Scalar(place(node), text, isText ? text : value(text));
    }

    /** What the parser takes for no text, by JSON's rules and not by YAML's older ones. */
    private static @Nullable Object value(String text) {
        if (text.isEmpty() || NONE.contains(text)) {
            return null;
        }
        if (text.equals("true") || text.equals("false")) {
            return Boolean.valueOf(text);
        }
        return NUMBER.matcher(text).matches() ? number(text) : text;
    }

    /** As HOCON's parser has it: whole where it is, as small as it fits. */
    private static Object number(String text) {
        if (WHOLE.matcher(text).matches()) {
            try {
                return smallest(Long.parseLong(text));
            } catch (NumberFormatException e) {
                return Double.parseDouble(text);
            }
        }
        double number = Double.parseDouble(text);
        return number == (long) number ? smallest((long) number) : (Object) number;
    }

    private static Object smallest(long whole) {
        return whole == (int) whole ? (Object) (int) whole : whole;
    }

    private void problemOfTag(Node node, boolean isWithout) {
        if (!isWithout) {
            problems.add(place(node) + ": tags are not known here: quote what is to be text");
        }
    }

    private String place(Node node) {
        return place(node.getStartMark());
    }

    private String place(Mark mark) {
        return file + ":" + (mark.getLine() + 1) + ":" + (mark.getColumn() + 1);
    }
}
