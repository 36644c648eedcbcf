package dev.ullage.cli.simulate;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.geom.Line2D;
import java.awt.geom.Path2D;
import java.awt.geom.Rectangle2D;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import javax.imageio.ImageIO;

/** PNG, two pixels for each of the chart, drawn by the JDK without a screen. It needs a font on the machine. */
final class PngCanvas implements ChartCanvas {
    private static final int SCALE = 2;

    private final BufferedImage image;
    private final Graphics2D graphics;

    PngCanvas(int width, int height) {
        image = new BufferedImage(SCALE * width, SCALE * height, BufferedImage.TYPE_INT_RGB);
        graphics = image.createGraphics();
        graphics.scale(SCALE, SCALE);
        graphics.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
        graphics.setRenderingHint(RenderingHints.KEY_TEXT_ANTIALIASING, RenderingHints.VALUE_TEXT_ANTIALIAS_ON);
        box(new Point(0, 0), width, height, "#ffffff");
    }

    @Override
    public void line(Point from, Point to, String colour) {
        graphics.setColor(Color.decode(colour));
        graphics.setStroke(new BasicStroke(1));
        graphics.draw(new Line2D.Double(from.x(), from.y(), to.x(), to.y()));
    }

    @Override
    public void curve(List<Point> points, String colour) {
        Path2D path = new Path2D.Double();
        for (int i = 0; i < points.size(); i++) {
            if (i == 0) {
                path.moveTo(points.get(i).x(), points.get(i).y());
            } else {
                path.lineTo(points.get(i).x(), points.get(i).y());
            }
        }
        graphics.setColor(Color.decode(colour));
        graphics.setStroke(new BasicStroke(2));
        graphics.draw(path);
    }

    @Override
    public void box(Point from, double width, double height, String colour) {
        graphics.setColor(Color.decode(colour));
        graphics.fill(new Rectangle2D.Double(from.x(), from.y(), width, height));
    }

    @Override
    public void text(String text, Point at, int size, Anchor anchor) {
        graphics.setColor(Color.BLACK);
        graphics.setFont(new Font(Font.SANS_SERIF, Font.PLAIN, size));
        int width = graphics.getFontMetrics().stringWidth(text);
        double shift =
                switch (anchor) {
                    case START -> 0;
                    case MIDDLE -> width / 2.0;
                    case END -> width;
                };
        graphics.drawString(text, (float) (at.x() - shift), (float) at.y());
    }

    @Override
    public byte[] file() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            ImageIO.write(image, "png", bytes);
        } catch (IOException e) {
            throw new UncheckedIOException("a picture cannot be written into memory", e);
        }
        return bytes.toByteArray();
    }
}
