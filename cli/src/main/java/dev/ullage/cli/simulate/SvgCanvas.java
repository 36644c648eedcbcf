package dev.ullage.cli.simulate;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** SVG without scripts, fonts or links. */
final class SvgCanvas implements ChartCanvas {
    private final StringBuilder svg = new StringBuilder();

    SvgCanvas(int width, int height) {
        add(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\">",
                width, height);
        box(new Point(0, 0), width, height, "#ffffff");
    }

    @Override
    public void line(Point from, Point to, String colour) {
        add(
                "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>",
                from.x(), to.x(), from.y(), to.y(), colour);
    }

    @Override
    public void curve(List<Point> points, String colour) {
        String all = points.stream()
                .map(point -> String.format(Locale.ROOT, "%.1f,%.1f", point.x(), point.y()))
                .collect(Collectors.joining(" "));
        add("<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"%s\"/>", colour, all);
    }

    @Override
    public void box(Point from, double width, double height, String colour) {
        add(
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>",
                from.x(), from.y(), width, height, colour);
    }

    @Override
    public void text(String text, Point at, int size, Anchor anchor) {
        add(
                "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%d\" text-anchor=\"%s\">%s</text>",
                at.x(), at.y(), size, anchor.label, escaped(text));
    }

    @Override
    public byte[] file() {
        return (svg + "</svg>\n").getBytes(StandardCharsets.UTF_8);
    }

    private void add(String format, Object... arguments) {
        svg.append(String.format(Locale.ROOT, format, arguments)).append('\n');
    }

    private static String escaped(String text) {
        return text.replaceAll("\\p{Cntrl}", "?")
                .replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;");
    }
}
