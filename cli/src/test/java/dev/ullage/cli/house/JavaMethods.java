package dev.ullage.cli.house;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.DoWhileLoopTree;
import com.sun.source.tree.EnhancedForLoopTree;
import com.sun.source.tree.ForLoopTree;
import com.sun.source.tree.IfTree;
import com.sun.source.tree.LambdaExpressionTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.StatementTree;
import com.sun.source.tree.SwitchTree;
import com.sun.source.tree.TryTree;
import com.sun.source.tree.WhileLoopTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreeScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;

/** The methods of Java sources as the compiler parses them. */
final class JavaMethods {
    /**
     * @param where file and line
     * @param lines from its first line to its closing brace, without Javadoc
     * @param nesting how deep its control statements lie in each other
     */
    record Method(String where, String name, long lines, int parameters, int nesting) {}

    private JavaMethods() {}

    static List<Method> in(List<Path> files) {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager manager =
                compiler.getStandardFileManager(null, Locale.ROOT, StandardCharsets.UTF_8)) {
            JavacTask task = (JavacTask) compiler.getTask(
                    null, manager, null, List.of("-proc:none"), null, manager.getJavaFileObjectsFromPaths(files));
            List<Method> methods = new ArrayList<>();
            for (CompilationUnitTree unit : task.parse()) {
                new Collector(unit, Trees.instance(task).getSourcePositions(), methods).scan(unit, null);
            }
            return methods;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static final class Collector extends TreeScanner<@Nullable Void, @Nullable Void> {
        private final CompilationUnitTree unit;
        private final SourcePositions positions;
        private final List<Method> methods;

        Collector(CompilationUnitTree unit, SourcePositions positions, List<Method> methods) {
            this.unit = unit;
            this.positions = positions;
            this.methods = methods;
        }

        @Override
        public @Nullable Void visitMethod(MethodTree method, @Nullable Void unused) {
            long start = positions.getStartPosition(unit, method);
            long end = positions.getEndPosition(unit, method);
            if (start >= 0 && end >= 0) {
                long first = unit.getLineMap().getLineNumber(start);
                long last = unit.getLineMap().getLineNumber(end);
                Nesting nesting = new Nesting();
                nesting.scan(method.getBody(), null);
                methods.add(new Method(
                        Checkout.relative(Path.of(unit.getSourceFile().toUri())) + ":" + first,
                        method.getName().toString(),
                        last - first + 1,
                        method.getParameters().size(),
                        nesting.deepest));
            }
            return super.visitMethod(method, null);
        }
    }

    /** Counts statements that branch or loop; an {@code else if} is as deep as its {@code if}. */
    private static final class Nesting extends TreeScanner<@Nullable Void, @Nullable Void> {
        private int depth;
        private int deepest;

        private @Nullable Void deeper(Runnable scan) {
            depth++;
            deepest = Math.max(deepest, depth);
            scan.run();
            depth--;
            return null;
        }

        @Override
        public @Nullable Void visitIf(IfTree tree, @Nullable Void unused) {
            scan(tree.getCondition(), null);
            deeper(() -> scan(tree.getThenStatement(), null));
            StatementTree otherwise = tree.getElseStatement();
            if (otherwise instanceof IfTree) {
                return scan(otherwise, null);
            }
            return deeper(() -> scan(otherwise, null));
        }

        @Override
        public @Nullable Void visitForLoop(ForLoopTree tree, @Nullable Void unused) {
            return deeper(() -> super.visitForLoop(tree, null));
        }

        @Override
        public @Nullable Void visitEnhancedForLoop(EnhancedForLoopTree tree, @Nullable Void unused) {
            return deeper(() -> super.visitEnhancedForLoop(tree, null));
        }

        @Override
        public @Nullable Void visitWhileLoop(WhileLoopTree tree, @Nullable Void unused) {
            return deeper(() -> super.visitWhileLoop(tree, null));
        }

        @Override
        public @Nullable Void visitDoWhileLoop(DoWhileLoopTree tree, @Nullable Void unused) {
            return deeper(() -> super.visitDoWhileLoop(tree, null));
        }

        @Override
        public @Nullable Void visitSwitch(SwitchTree tree, @Nullable Void unused) {
            return deeper(() -> super.visitSwitch(tree, null));
        }

        @Override
        public @Nullable Void visitTry(TryTree tree, @Nullable Void unused) {
            return deeper(() -> super.visitTry(tree, null));
        }

        /** A lambda's body is a method of its own kind: it starts again. */
        @Override
        public @Nullable Void visitLambdaExpression(LambdaExpressionTree tree, @Nullable Void unused) {
            int outer = depth;
            depth = 0;
            super.visitLambdaExpression(tree, null);
            depth = outer;
            return null;
        }
    }
}
