package dev.ullage.coordinator.http;

import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The page of a report as one file that needs no server: what the served page loads stands in it, and the data too. A
 * policy in the file forbids it to load anything else.
 */
public final class ReportPage {
    private static final String POLICY =
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline';"
                    + " style-src 'unsafe-inline'; img-src data:\">";
    private static final List<String> STYLES = List.of("uplot.css", "page.css", "report.css");
    private static final List<String> SCRIPTS = List.of("uplot-global.js", "report.js");

    private ReportPage() {}

    /** @param json the report as {@code /api/v1/report} gives it */
    public static String selfContained(String json) {
        PageFiles files = PageFiles.load();
        String page = text(files, PageFiles.REPORT);
        page = replaced(page, "<link rel=\"icon\" href=\"/page/icon.svg\" type=\"image/svg+xml\">", POLICY);
        for (String name : STYLES) {
            page = replaced(
                    page,
                    "<link rel=\"stylesheet\" href=\"/page/" + name + "\">",
                    "<style>" + checked(name, text(files, name), "</style") + "</style>");
        }
        StringBuilder scripts = new StringBuilder();
        // Whatever a name in it says, no character of it can end the element that it stands in.
        scripts.append("<script type=\"application/json\" id=\"data\">")
                .append(json.replace("<", "\\u003c"))
                .append("</script>\n");
        for (String name : SCRIPTS) {
            page = replaced(page, "<script src=\"/page/" + name + "\" defer></script>", "");
            scripts.append("<script>")
                    .append(checked(name, text(files, name), "</script"))
                    .append("</script>\n");
        }
        return replaced(page, "</body>", scripts + "</body>");
    }

    private static String text(PageFiles files, String name) {
        return files.bytes(name).decodeString(StandardCharsets.UTF_8);
    }

    private static String checked(String name, String text, String end) {
        if (text.contains(end)) {
            throw new IllegalStateException(name + " cannot stand in a page: it has " + end);
        }
        return text;
    }

    private static String replaced(String page, String what, String by) {
        if (!page.contains(what)) {
            throw new IllegalStateException("report.html lacks " + what);
        }
        return page.replace(what, by);
    }
}
