package dev.sandglass.gateway.execution;

import org.junit.jupiter.api.Test;

class TmpTest extends LiveSandbox {
    @Test
    void t() throws Exception {
        ((ch.qos.logback.classic.Logger) org.slf4j.LoggerFactory.getLogger("dev.sandglass")).setLevel(ch.qos.logback.classic.Level.DEBUG);
        System.out.println("FIG port " + sandbox.port() + " pid " + supervisor.handle().pid());
        for (int i = 0; i < 300; i++) {
            try (Replica two = new Replica(java.time.Duration.ofSeconds(5))) {
                long t = System.nanoTime();
                var id = one.run(sandbox, Replica.code(UNTIL_FILE.formatted("read" + i) + "'whole'", Replica.background())).id();
                var r = two.executions.read(sandbox, id, 0, Replica.LONG, 1000, OutputListener.NONE).subscribe(x -> {}, x -> {});
                while (two.links.stats().open() == 0 && System.nanoTime() - t < 2_500_000_000L) Thread.sleep(1);
                if (two.links.stats().open() == 0) {
                    System.out.println("FIG stuck " + i + " " + two.links.stats());
                    new ProcessBuilder("sh", "-c", "ss -tinop | grep -A1 ':" + sandbox.port() + " '; grep . /tmp/sg*/supervisor.log | tail -20").inheritIO().start().waitFor();
                    dump(two.links);
                    System.out.println("FIG stuck end");
                    return;
                }
                r.dispose();
                touch("read" + i);
                var f = two.executions.read(sandbox, id, 0, Replica.LONG, 1000, OutputListener.NONE).toFuture();
                long u = System.nanoTime();
                while (!f.isDone() && System.nanoTime() - u < 2_500_000_000L) Thread.sleep(1);
                if (!f.isDone()) {
                    System.out.println("FIG stuck " + i + " " + two.links.stats());
                    new ProcessBuilder("sh", "-c", "ss -tinop | grep -A1 ':" + sandbox.port() + " '; grep . /tmp/sg*/supervisor.log | tail -20").inheritIO().start().waitFor();
                    dump(two.links);
                    new ProcessBuilder("sh", "-c", "/usr/lib/jvm/temurin-25-jdk-amd64/bin/jstack " + ProcessHandle.current().pid() + " | grep -A8 'iothread\\|\"link\"'").inheritIO().start().waitFor();
                    System.out.println("FIG stuck end");
                    return;
                }
            }
        }
    }
  static Object get(Object o, String f) throws Exception { Class<?> c = o.getClass(); while (c != null) { try { java.lang.reflect.Field x = c.getDeclaredField(f); x.setAccessible(true); return java.util.Objects.requireNonNull(x.get(o)); } catch (NoSuchFieldException e) { c = c.getSuperclass(); } } throw new NoSuchFieldException(f + " in " + o.getClass()); }
  static void dump(Object client) throws Exception {
    Object ctx = get(get(client, "context"), "ctx");
    for (Object t : (java.util.List<?>) get(ctx, "ioThreads")) {
      Object p = get(t, "poller"); java.nio.channels.Selector sel = (java.nio.channels.Selector) get(p, "selector");
      System.out.println("poller retired=" + get(p, "retired") + " keys=" + sel.keys().size());
      for (Object h : (java.util.Set<?>) get(p, "fdTable")) { java.nio.channels.SelectableChannel fd = (java.nio.channels.SelectableChannel) get(h, "fd"); java.nio.channels.SelectionKey k = fd.keyFor(sel);
        System.out.println("  handle " + fd + " ops=" + get(h, "ops") + " cancelled=" + get(h, "cancelled") + " handler=" + get(h, "handler") + " key=" + (k == null ? "none" : k.isValid() ? "ops " + k.interestOps() + " att " + (k.attachment() == h) : "INVALID")); }
    }
  }
}
