import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/** Threads of the operating system, with the queue that is fastest between them. */
final class PlatformThreads extends Talk {
    private PlatformThreads() {
        super(PlatformThreads::daemon);
    }

    private static Thread daemon(Runnable work) {
        Thread thread = new Thread(work);
        thread.setDaemon(true);
        return thread;
    }

    @Override
    <T> BlockingQueue<T> queue(int room) {
        return new ArrayBlockingQueue<>(room);
    }

    public static void main(String[] args) throws Exception {
        new PlatformThreads().run(args);
    }
}
