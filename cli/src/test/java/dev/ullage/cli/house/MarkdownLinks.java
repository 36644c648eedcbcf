package dev.ullage.cli.house;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The links of a Markdown document to files of this checkout and to headings in them. */
final class MarkdownLinks {
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
    private static final Pattern ELSEWHERE = Pattern.compile("^[a-z]+:.*");

    private MarkdownLinks() {}

    record Link(Path document, int line, String target) {
        boolean leadsSomewhere() {
            String[] parts = target.split("#", 2);
            Path file = parts[0].isEmpty() ? document : document.resolveSibling(parts[0]);
            if (!Files.exists(file)) {
                return false;
            }
            return parts.length < 2 || anchors(file).contains(parts[1]);
        }
    }

    static List<Link> in(Path document) {
        List<Link> links = new ArrayList<>();
        List<String> lines = withoutCode(document);
        for (int i = 0; i < lines.size(); i++) {
            Matcher matcher = LINK.matcher(lines.get(i));
            while (matcher.find()) {
                if (!ELSEWHERE.matcher(matcher.group(1)).matches()) {
                    links.add(new Link(document, i + 1, matcher.group(1)));
                }
            }
        }
        return links;
    }

    private static List<String> anchors(Path document) {
        return withoutCode(document).stream()
                .filter(line -> line.startsWith("#"))
                .map(MarkdownLinks::anchor)
                .toList();
    }

    private static String anchor(String heading) {
        return heading.replaceFirst("^#+\\s*", "")
                .toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\p{N} _-]", "")
                .replace(' ', '-');
    }

    /** The lines, those of code blocks emptied. */
    private static List<String> withoutCode(Path document) {
        List<String> lines = new ArrayList<>();
        boolean code = false;
        for (String line : Checkout.lines(document)) {
            boolean fence = line.strip().startsWith("```");
            lines.add(code || fence ? "" : line);
            code ^= fence;
        }
        return lines;
    }
}
