package dev.ullage.network;

import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import dev.ullage.coordinator.planning.predict.PredictorUnavailableException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.FloatBuffer;
import java.util.Map;

/** The trained network, loaded once for the process. It holds no state of a series and may be used by many threads. */
final class OnnxNetwork {
    static final int HIDDEN = 32;
    private static final String MODEL = "lstm.onnx";

    private final OrtEnvironment environment;
    private final OrtSession session;

    private OnnxNetwork(OrtEnvironment environment, OrtSession session) {
        this.environment = environment;
        this.session = session;
    }

    static OnnxNetwork load() throws PredictorUnavailableException {
        try (InputStream model = OnnxNetwork.class.getResourceAsStream(MODEL)) {
            if (model == null) {
                throw new PredictorUnavailableException("ullage-network has no " + MODEL);
            }
            OrtEnvironment environment = OrtEnvironment.getEnvironment();
            try (OrtSession.SessionOptions options = new OrtSession.SessionOptions()) {
                // A step is a few thousand multiplications: a second thread would only wait.
                options.setIntraOpNumThreads(1);
                options.setInterOpNumThreads(1);
                return new OnnxNetwork(environment, environment.createSession(model.readAllBytes(), options));
            }
        } catch (IOException | OrtException | LinkageError e) {
            throw new PredictorUnavailableException("ONNX Runtime cannot run the network here: " + e, e);
        }
    }

    /** What a series has left in the network's cell; of a new series all zero. */
    static final class CellState {
        private float[] hidden = new float[HIDDEN];
        private float[] cell = new float[HIDDEN];
    }

    /** @return the expected change, and its quantiles 0.90 and 0.98, in units of {@link LstmFeatures#UNIT} */
    float[] step(float[] features, CellState state) {
        try (OnnxTensor input = tensor(features);
                OnnxTensor hidden = tensor(state.hidden);
                OnnxTensor cell = tensor(state.cell);
                OrtSession.Result result = session.run(Map.of("features", input, "hidden", hidden, "cell", cell))) {
            state.hidden = vector(result, 1);
            state.cell = vector(result, 2);
            return vector(result, 0);
        } catch (OrtException e) {
            throw new IllegalStateException("the network failed in a step", e);
        }
    }

    private OnnxTensor tensor(float[] values) throws OrtException {
        return OnnxTensor.createTensor(environment, FloatBuffer.wrap(values), new long[] {1, 1, values.length});
    }

    private static float[] vector(OrtSession.Result result, int output) throws OrtException {
        return ((float[][][]) result.get(output).getValue())[0][0];
    }
}
