package dev.ullage.cli.simulate;

import java.util.List;

/** What a chart is drawn on. Lengths are pixels from the upper left corner, colours {@code #rrggbb}. */
interface ChartCanvas {

    /** Which side of a text its place is. */
    enum Anchor {
        START("start"),
        MIDDLE("middle"),
        END("end");

        final String label;

        Anchor(String label) {
            this.label = label;
        }
    }

    record Point(double x, double y) {}

    void line(Point from, Point to, String colour);

    void curve(List<Point> points, String colour);

    /** @param from its upper left corner */
    void box(Point from, double width, double height, String colour);

    /** @param at where its base line is */
    void text(String text, Point at, int size, Anchor anchor);

    /** The whole picture, as it stands in a file. */
    byte[] file();
}
