import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadFactory;

/**
 * The experiments about processes and messages in Java: threads and blocking queues.
 *
 * <pre>
 *   oneway MESSAGES
 *   pingpong ROUNDS
 *   ring THREADS MESSAGES
 *   waiting THREADS
 * </pre>
 *
 * What is printed has the form that the Erlang programs print. A tenth of the messages goes first,
 * untimed, so that the compiler has been at work when the clock starts.
 */
abstract class Talk {
    private static final int WARM_UP = 10;
    private static final int END = -1;

    private final ThreadFactory threads;

    Talk(ThreadFactory threads) {
        this.threads = threads;
    }

    /** A queue in which that many messages may wait, or more. */
    abstract <T> BlockingQueue<T> queue(int room);

    final void run(String[] args) throws Exception {
        int count = Integer.parseInt(args[1]);
        switch (args[0]) {
            case "oneway" -> {
                oneway(count / WARM_UP + 1);
                print("oneway %s%n", oneway(count));
            }
            case "pingpong" -> {
                pingpong(count / WARM_UP + 1);
                print("pingpong %s%n", pingpong(count));
            }
            case "ring" -> {
                int messages = Integer.parseInt(args[2]);
                ring(Math.min(count, 1000), messages / WARM_UP + 1);
                print("%s", ring(count, messages));
            }
            case "waiting" -> waiting(count);
            default -> throw new IllegalArgumentException("no experiment named " + args[0]);
        }
    }

    private static void print(String format, Object... values) {
        System.out.printf(Locale.ROOT, format, values);
    }

    /** What a thread does that waits for messages as long as the program runs. */
    private interface Work {
        void run() throws InterruptedException;
    }

    private void start(Work work) {
        threads.newThread(() -> {
            try {
                work.run();
            } catch (InterruptedException end) {
                Thread.currentThread().interrupt();
            }
        }).start();
    }

    /** What a thread of the kind that is measured comes to. */
    private <T> T inThread(Callable<T> work) throws Exception {
        FutureTask<T> task = new FutureTask<>(work);
        threads.newThread(task).start();
        return task.get();
    }

    private record Passed(int count, long nanos) {
        @Override
        public String toString() {
            return String.format(Locale.ROOT, "%d in %.6f s", count, nanos / 1e9);
        }
    }

    /** Sends as fast as the receiver takes. */
    private Passed oneway(int count) throws Exception {
        BlockingQueue<Integer> messages = queue(1024);
        BlockingQueue<Integer> taken = queue(1);
        start(() -> {
            int n = 0;
            while (messages.take() != END) {
                n++;
            }
            taken.put(n);
        });
        return inThread(() -> {
            long begin = System.nanoTime();
            for (int i = 0; i < count; i++) {
                messages.put(i);
            }
            messages.put(END);
            int n = taken.take();
            return new Passed(n, System.nanoTime() - begin);
        });
    }

    /** Waits for an answer to each message before it sends the next. */
    private Passed pingpong(int count) throws Exception {
        BlockingQueue<Integer> pings = queue(1);
        BlockingQueue<Integer> pongs = queue(1);
        start(() -> {
            for (int n = pings.take(); n != END; n = pings.take()) {
                pongs.put(n);
            }
        });
        return inThread(() -> {
            int n = 0;
            long begin = System.nanoTime();
            while (n < count) {
                pings.put(n);
                if (pongs.take() == n) {
                    n++;
                }
            }
            long nanos = System.nanoTime() - begin;
            pings.put(END);
            return new Passed(n, nanos);
        });
    }

    private record Ring(int size, int count, long setup, long run) {
        private static String line(String what, long nanos, int count, String unit) {
            return String.format(Locale.ROOT, "%s : %.6f s (%.6f us per %s) (%d %ss)%n",
                    what, nanos / 1e9, nanos / 1e3 / count, unit, count, unit);
        }

        @Override
        public String toString() {
            return line("Setup", setup, size, "spawn") + line("Run", run, count, "msg");
        }
    }

    /** Hands a number round, smaller by one at each step. */
    private Ring ring(int size, int count) throws InterruptedException {
        BlockingQueue<Integer> done = queue(1);
        long begin = System.nanoTime();
        BlockingQueue<Integer> first = queue(1);
        BlockingQueue<Integer> next = first;
        for (int i = 1; i < size; i++) {
            BlockingQueue<Integer> inbox = queue(1);
            relay(inbox, next, done);
            next = inbox;
        }
        relay(first, next, done);
        long ready = System.nanoTime();
        first.put(count);
        int left = done.take();
        long end = System.nanoTime();
        return new Ring(size, count - left, ready - begin, end - ready);
    }

    /** Passes each number on less one; the last message says that it is 0 now. */
    private void relay(
            BlockingQueue<Integer> inbox, BlockingQueue<Integer> next, BlockingQueue<Integer> done) {
        start(() -> {
            while (true) {
                int n = inbox.take();
                (n == 1 ? done : next).put(n - 1);
            }
        });
    }

    /** Tells how much memory each thread holds that only waits for a message. */
    private void waiting(int count) throws Exception {
        waitAll(1000);
        Thread.sleep(50);
        long before = resident();
        waitAll(count);
        Thread.sleep(200);
        print("waiting %.1f bytes %d processes%n", (double) (resident() - before) / count, count);
    }

    private void waitAll(int count) {
        for (int i = 0; i < count; i++) {
            BlockingQueue<Integer> messages = queue(1);
            start(messages::take);
        }
    }

    /** What the operating system says this program holds, in bytes. */
    private static long resident() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.split("\\s+")[1]) * 1024;
            }
        }
        throw new IOException("/proc/self/status has no VmRSS");
    }
}
