package dev.ullage.cli.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.testing.Requires;
import dev.ullage.common.testing.ScratchFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.logging.Level;
import org.openqa.selenium.By;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

/** Debian's Chromium without a screen; nothing is downloaded. */
public final class Browser implements AutoCloseable {
    private static final Path PROGRAMS = Path.of("/usr/bin");
    private static final String CHROMIUM = "chromium";
    private static final String DRIVER = "chromedriver";
    private static final Duration PAUSE = Duration.ofMillis(50);

    private final ChromeDriver driver;
    private final ScratchFolder scratch;

    private Browser(ChromeDriver driver, ScratchFolder scratch) {
        this.driver = driver;
        this.scratch = scratch;
    }

    /** @param width of the window, in pixels */
    public static Browser start(int width, int height) {
        Requires.command(CHROMIUM, "chromium");
        Requires.command(DRIVER, "chromium-driver");
        ChromeOptions options = new ChromeOptions();
        options.setBinary(PROGRAMS.resolve(CHROMIUM).toString());
        // No sandbox: tests may run as root, where Chromium has none; it sees only this machine's pages.
        options.addArguments("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars");
        LoggingPreferences logs = new LoggingPreferences();
        logs.enable(LogType.BROWSER, Level.ALL);
        options.setCapability("goog:loggingPrefs", logs);
        // It leaves folders behind in the one it is given for such.
        ScratchFolder scratch = ScratchFolder.create("ullage-browser");
        ChromeDriverService service = new ChromeDriverService.Builder()
                .usingDriverExecutable(PROGRAMS.resolve(DRIVER).toFile())
                .usingAnyFreePort()
                .withEnvironment(Map.of("TMPDIR", scratch.path().toString()))
                .build();
        Browser browser = new Browser(new ChromeDriver(service, options), scratch);
        browser.resize(width, height);
        return browser;
    }

    public void resize(int width, int height) {
        driver.executeCdpCommand(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", width < 600));
    }

    public void setDark(boolean isDark) {
        driver.executeCdpCommand(
                "Emulation.setEmulatedMedia",
                Map.of(
                        "features",
                        List.of(Map.of("name", "prefers-color-scheme", "value", isDark ? "dark" : "light"))));
    }

    public void open(String url) {
        driver.get(url);
    }

    public String title() {
        return driver.getTitle();
    }

    public WebElement one(String selector) {
        return driver.findElement(By.cssSelector(selector));
    }

    public List<WebElement> all(String selector) {
        return driver.findElements(By.cssSelector(selector));
    }

    /** What a selector's element says; empty when there is none. */
    public String text(String selector) {
        Object text = script("return document.querySelector(arguments[0])?.textContent ?? ''", selector);
        return String.valueOf(text);
    }

    public Object script(String script, Object... arguments) {
        Object result = driver.executeScript(script, arguments);
        return result == null ? "null" : result;
    }

    /** Presses keys where the focus is. */
    public void press(CharSequence... keys) {
        driver.switchTo().activeElement().sendKeys(keys);
    }

    /** Waits until something is so; fails with what the page says otherwise. */
    public void await(String what, Duration within, BooleanSupplier holds) {
        long deadline = System.nanoTime() + within.toNanos();
        while (!holds.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("not within " + within + ": " + what + "; the page says: " + text("body"));
            }
            LockSupport.parkNanos(PAUSE.toNanos());
        }
    }

    /** Nothing the browser complains of: no error in a script, no breach of the content security policy. */
    public void assertNoComplaint() {
        List<String> complaints = driver.manage().logs().get(LogType.BROWSER).getAll().stream()
                .filter(entry -> entry.getLevel().intValue() >= Level.WARNING.intValue())
                .map(LogEntry::getMessage)
                .filter(message -> !message.contains("net::ERR_"))
                .toList();
        assertThat(complaints).isEmpty();
    }

    public void screenshot(Path file) {
        try {
            Files.createDirectories(file.toAbsolutePath().getParent());
            Files.write(file, driver.getScreenshotAs(OutputType.BYTES));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        try (scratch) {
            driver.quit();
        }
    }
}
