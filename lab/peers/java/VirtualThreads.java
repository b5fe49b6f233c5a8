import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedTransferQueue;

/** Virtual threads (Java 21 and later), with the queue that is fastest between them. */
final class VirtualThreads extends Talk {
    private VirtualThreads() {
        super(Thread.ofVirtual().factory());
    }

    /** Never full: its sender waits for nobody. */
    @Override
    <T> BlockingQueue<T> queue(int room) {
        return new LinkedTransferQueue<>();
    }

    public static void main(String[] args) throws Exception {
        new VirtualThreads().run(args);
    }
}
