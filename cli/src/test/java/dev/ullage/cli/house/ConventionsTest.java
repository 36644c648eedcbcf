package dev.ullage.cli.house;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.cli.house.JavaMethods.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** CONTRIBUTING.md, "Limits" and "Names", read off the sources. A failure lists every place at once. */
final class ConventionsTest {
    private static final int MAX_FILE_LINES = 500;
    private static final int MAX_LINE_LENGTH = 120;
    private static final int MAX_METHOD_LINES = 60;
    private static final int MAX_PARAMETERS = 7;
    private static final int MAX_NESTING = 3;

    private static final String[] CODE = {".java", ".py", ".sh", ".js", ".css"};
    private static final String[] TEXT = {".java", ".py", ".sh", ".js", ".css", ".conf", ".md", ".xml", ".toml"};

    // In two parts, so that these lines do not find themselves.
    private static final Pattern UNNUMBERED_TASK = Pattern.compile("\\b(?:TO" + "DO|FIX" + "ME|X" + "XX)\\b(?!.*#\\d)");
    private static final Pattern BANNED_NAME =
            Pattern.compile("(?i:quo" + "ta)|\\b(?:[a-z]*[Cc]a" + "p|[a-z_]+_ca" + "p)\\b");
    private static final Pattern ONLY_TEXT = Pattern.compile("^\\s*(?:\\+ |\\()?\"[^\"]*\"[,;)+ ]*$");
    // What is counted in texts. A bound, as in "at most %d ranks", is more than one by its rule.
    private static final Pattern ALWAYS_PLURAL =
            Pattern.compile("(?<!to |most |than )(?:%,?d|[a-z)] \\+ \"|\\{[^{}@]*\\}) (?:more |other )?"
                    + "(?:ranks|devices|nodes|jobs|processes|steps|times|places|problems|requests|stages|hosts|limits|moves"
                    + "|samples|epochs|micro-batches|instances|decisions|readers)\\b(?! the|=)");

    private static final Pattern AUTHOR_TAG = Pattern.compile("^\\s*\\*\\s*@auth" + "or\\b");

    @Test
    void filesAreShort() {
        assertThat(Checkout.files(CODE).stream()
                        .filter(file -> Checkout.lines(file).size() > MAX_FILE_LINES)
                        .map(file -> Checkout.relative(file) + ": "
                                + Checkout.lines(file).size() + " lines"))
                .as("files of more than %d lines", MAX_FILE_LINES)
                .isEmpty();
    }

    // A line that is one text only may be longer: a message is in one piece, so that it can be searched for, and the
    // row
    // of a table in a text block cannot be broken.
    @Test
    void linesAreShort() {
        assertThat(linesOf(".java", ".py", ".sh", ".conf")
                        .filter(line -> line.length() > MAX_LINE_LENGTH && !line.isText()))
                .as("lines of more than %d characters", MAX_LINE_LENGTH)
                .isEmpty();
    }

    @Test
    void methodsAreShortAndFlatAndTakeFewParameters() {
        List<Method> methods = JavaMethods.in(Checkout.files(".java"));

        assertThat(methods).hasSizeGreaterThan(20);
        assertThat(methods.stream().filter(method -> method.lines() > MAX_METHOD_LINES))
                .as("methods of more than %d lines", MAX_METHOD_LINES)
                .isEmpty();
        assertThat(methods.stream().filter(method -> method.parameters() > MAX_PARAMETERS))
                .as("methods of more than %d parameters", MAX_PARAMETERS)
                .isEmpty();
        assertThat(methods.stream().filter(method -> method.nesting() > MAX_NESTING))
                .as("methods that nest deeper than %d", MAX_NESTING)
                .isEmpty();
    }

    /** Recordings are as their tool wrote them. */
    @Test
    void noFileHasTabs() {
        assertThat(linesOf(TEXT).filter(line -> line.text().contains("\t")).filter(line -> !line.file()
                        .startsWith("worker/src/test/resources/nvidia-smi/")))
                .isEmpty();
    }

    @Test
    void whatIsLeftToDoHasAnIssue() {
        assertThat(linesOf(TEXT).filter(line -> line.matches(UNNUMBERED_TASK)))
                .as("open ends without an issue number (#12)")
                .isEmpty();
    }

    // The words are limit, ceiling, budget, reserve, grant, plan, order, confirm: one for each thing.
    @Test
    void thingsHaveTheirOneName() {
        assertThat(linesOf(".java", ".py").filter(line -> line.matches(BANNED_NAME)))
                .isEmpty();
    }

    /** In Java {@code Counts.of} says it, on the page {@code count}, in Python the number stands behind the noun. */
    @Test
    void whatIsCountedMayBeOne() {
        assertThat(linesOf(".java", ".js", ".py")
                        .filter(line -> line.file().contains("/src/main/")
                                || line.file().startsWith("python/ullage/"))
                        .filter(line -> line.matches(ALWAYS_PLURAL)))
                .as("texts that say \"1 ranks\"")
                .isEmpty();
    }

    @Test
    void noFileNamesAnAuthor() {
        assertThat(linesOf(".java").filter(line -> line.matches(AUTHOR_TAG))).isEmpty();
    }

    @Test
    void everyPackageSaysWhatItIsForAndIsNullMarked() {
        assertThat(Checkout.mainPackages().stream()
                        .map(folder -> folder.resolve("package-info.java"))
                        .filter(file -> !Files.exists(file) || !saysWhatItIsFor(file))
                        .map(Checkout::relative))
                .as("packages without a package-info.java that has Javadoc and @NullMarked")
                .isEmpty();
    }

    @Test
    void linksInDocumentsLeadSomewhere() {
        List<String> dead = new ArrayList<>();
        for (Path document : Checkout.files(".md")) {
            for (MarkdownLinks.Link link : MarkdownLinks.in(document)) {
                if (!link.leadsSomewhere()) {
                    dead.add(Checkout.relative(document) + ":" + link.line() + ": " + link.target());
                }
            }
        }
        assertThat(dead).as("dead links").isEmpty();
    }

    private static boolean saysWhatItIsFor(Path packageInfo) {
        List<String> lines = Checkout.lines(packageInfo);
        return lines.get(0).startsWith("/**") && lines.contains("@NullMarked");
    }

    private static Stream<Line> linesOf(String... endings) {
        return Checkout.files(endings).stream().flatMap(file -> {
            List<Line> lines = new ArrayList<>();
            boolean inTextBlock = false;
            for (String text : Checkout.lines(file)) {
                inTextBlock ^= file.toString().endsWith(".java") && text.split("\"\"\"", -1).length % 2 == 0;
                lines.add(new Line(Checkout.relative(file), lines.size() + 1, text, inTextBlock));
            }
            return lines.stream();
        });
    }

    private record Line(String file, int number, String text, boolean inTextBlock) {
        boolean isText() {
            return inTextBlock || matches(ONLY_TEXT);
        }

        int length() {
            return text.codePointCount(0, text.length());
        }

        boolean matches(Pattern pattern) {
            return pattern.matcher(text).find();
        }

        @Override
        public String toString() {
            return file + ":" + number + ": " + text.strip();
        }
    }
}
