package dev.ullage.worker.probe.smi;

import dev.ullage.worker.probe.smi.SmiGpu.Mig;
import dev.ullage.worker.probe.smi.SmiProcess.MigInstance;
import java.io.IOException;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import javax.xml.XMLConstants;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.xml.sax.ErrorHandler;
import org.xml.sax.InputSource;
import org.xml.sax.SAXException;
import org.xml.sax.SAXParseException;

/** {@code nvidia-smi -q -x}. Pure: the document type it names is never fetched, nor anything else it could name. */
final class SmiXml {
    private static final String NO_NUMBER = "N/A";

    private static final String END = "</nvidia_smi_log>";

    private SmiXml() {}

    private static int at(String word, String text) {
        int at = text.indexOf(word);
        return at < 0 ? text.length() : at;
    }

    static SmiReport parse(String text) {
        Element log;
        try {
            // What stands before and behind is of a shell, of the tool, or of whoever pasted it.
            int start = Math.max(Math.min(at("<?xml", text), at("<nvidia_smi_log", text)), 0);
            int last = text.lastIndexOf(END);
            int end = last < start ? text.length() : last + END.length();
            log = builder()
                    .parse(new InputSource(new StringReader(text.substring(start, end))))
                    .getDocumentElement();
        } catch (SAXException | IOException | ParserConfigurationException e) {
            return SmiReport.nothing("the XML of nvidia-smi -q -x is cut off or not well formed: "
                    + SmiAmount.words(String.valueOf(e.getMessage())));
        }
        List<Element> elements = children(log, "gpu");
        // Of an excerpt the places do not tell the indices.
        boolean isWhole = text(log, "attached_gpus").equals(Optional.of(Integer.toString(elements.size())));
        List<SmiGpu> gpus = new ArrayList<>();
        for (int i = 0; i < elements.size(); i++) {
            gpus.add(gpu(elements.get(i), isWhole ? OptionalInt.of(i) : OptionalInt.empty()));
        }
        List<String> problems = isWhole
                ? List.of()
                : List.of("the output has %d of %s attached GPUs; which index is whose is unknown"
                        .formatted(elements.size(), text(log, "attached_gpus").orElse("an unknown number")));
        return new SmiReport(text(log, "driver_version"), gpus, false, problems);
    }

    private static DocumentBuilder builder() throws ParserConfigurationException {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        factory.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true);
        factory.setFeature("http://xml.org/sax/features/external-general-entities", false);
        factory.setFeature("http://xml.org/sax/features/external-parameter-entities", false);
        factory.setFeature("http://apache.org/xml/features/nonvalidating/load-external-dtd", false);
        factory.setAttribute(XMLConstants.ACCESS_EXTERNAL_DTD, "");
        factory.setAttribute(XMLConstants.ACCESS_EXTERNAL_SCHEMA, "");
        factory.setXIncludeAware(false);
        factory.setExpandEntityReferences(false);
        DocumentBuilder builder = factory.newDocumentBuilder();
        builder.setErrorHandler(Silent.INSTANCE);
        return builder;
    }

    private static SmiGpu gpu(Element gpu, OptionalInt index) {
        SmiGpuId id = new SmiGpuId(
                index,
                text(gpu, "uuid"),
                text(gpu, "product_name"),
                Optional.of(gpu.getAttribute("id")).flatMap(SmiCsv::unlessUnknown));
        List<SmiMigDevice> instances = new ArrayList<>();
        child(gpu, "mig_devices").ifPresent(list -> children(list, "mig_device")
                .forEach(device -> instance(device).ifPresent(instances::add)));
        List<String> problems = new ArrayList<>();
        Optional<List<SmiProcess>> processes = processes(gpu, problems);
        return new SmiGpu(id, memory(gpu), new Mig(mig(gpu), instances), processes, problems);
    }

    /** Of a whole output without it the driver is older than MIG; with {@code -d} a part is all that is printed. */
    private static Optional<Boolean> mig(Element gpu) {
        Optional<Element> mode = child(gpu, "mig_mode");
        return mode.isEmpty() && child(gpu, "product_name").isPresent()
                ? Optional.of(false)
                : mode.flatMap(element -> content(element, "current_mig")).flatMap(SmiCsv::migMode);
    }

    private static SmiMemory memory(Element device) {
        return child(device, "fb_memory_usage")
                .map(use -> new SmiMemory(
                        amount(use, "total"), amount(use, "reserved"), amount(use, "used"), amount(use, "free")))
                .orElse(SmiMemory.NOT_PRINTED);
    }

    private static Optional<SmiMigDevice> instance(Element device) {
        OptionalInt number = number(device, "index");
        return number.isEmpty()
                ? Optional.empty()
                : Optional.of(new SmiMigDevice(
                        number.getAsInt(), ids(device), text(device, "uuid"), Optional.empty(), memory(device)));
    }

    private static Optional<MigInstance> ids(Element element) {
        OptionalInt gpu = number(element, "gpu_instance_id");
        OptionalInt compute = number(element, "compute_instance_id");
        return gpu.isPresent() && compute.isPresent()
                ? Optional.of(new MigInstance(gpu.getAsInt(), compute.getAsInt()))
                : Optional.empty();
    }

    /** An element without content is a list of nobody; one with words in place of entries is no list. */
    private static Optional<List<SmiProcess>> processes(Element gpu, List<String> problems) {
        Optional<Element> list = child(gpu, "processes");
        List<Element> entries =
                list.map(element -> children(element, "process_info")).orElse(List.of());
        String words = list.map(element -> element.getTextContent().strip()).orElse("not part of this output");
        if (entries.isEmpty() && !words.isEmpty()) {
            problems.add("processes are unknown: " + SmiAmount.words(words));
            return Optional.empty();
        }
        List<SmiProcess> processes = new ArrayList<>();
        for (Element entry : entries) {
            String pid = content(entry, "pid").orElse("");
            if (pid.matches("\\d{1,18}")) {
                processes.add(new SmiProcess(
                        Long.parseLong(pid),
                        content(entry, "process_name").orElse(""),
                        amount(entry, "used_memory"),
                        ids(entry)));
            } else {
                problems.add("a process without a process id is left out: '" + SmiAmount.words(pid) + "'");
            }
        }
        return Optional.of(processes);
    }

    private static SmiAmount amount(Element parent, String name) {
        return content(parent, name).map(text -> SmiAmount.parse(text, "")).orElse(SmiAmount.NOT_PRINTED);
    }

    private static OptionalInt number(Element parent, String name) {
        String text = content(parent, name).orElse(NO_NUMBER);
        return text.matches("\\d{1,6}") ? OptionalInt.of(Integer.parseInt(text)) : OptionalInt.empty();
    }

    /** The content of a child, unless it is one of the tool's words for not known. */
    private static Optional<String> text(Element parent, String name) {
        return content(parent, name).flatMap(SmiCsv::unlessUnknown);
    }

    private static Optional<String> content(Element parent, String name) {
        return child(parent, name).map(element -> element.getTextContent().strip());
    }

    private static Optional<Element> child(Element parent, String name) {
        return children(parent, name).stream().findFirst();
    }

    private static List<Element> children(Element parent, String name) {
        List<Element> children = new ArrayList<>();
        for (Node node = parent.getFirstChild(); node != null; node = node.getNextSibling()) {
            if (node instanceof Element element && element.getTagName().equals(name)) {
                children.add(element);
            }
        }
        return children;
    }

    /** The parser's own would write to standard error. */
    private enum Silent implements ErrorHandler {
        INSTANCE;

        @Override
        public void warning(SAXParseException e) {
            // Nothing depends on it.
        }

        @Override
        public void error(SAXParseException e) {
            // Only about the document type, which is not read.
        }

        @Override
        public void fatalError(SAXParseException e) throws SAXException {
            throw e;
        }
    }
}
