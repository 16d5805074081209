import java.nio.file.Path;
import org.neo4j.configuration.GraphDatabaseSettings;
import org.neo4j.configuration.connectors.BoltConnector;
import org.neo4j.configuration.helpers.SocketAddress;
import org.neo4j.dbms.api.DatabaseManagementService;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;

/**
 * Serves one Neo4j database over Bolt on 127.0.0.1 until the process is told to end.
 * Arguments: home folder, settings file (in the format of neo4j.conf), port.
 */
public final class GraphServer {
    private static final long MILLISECONDS_TO_OPEN = 100_000;

    public static void main(String[] arguments) {
        var home = Path.of(arguments[0]);
        var settings = Path.of(arguments[1]);
        var address = new SocketAddress("127.0.0.1", Integer.parseInt(arguments[2]));

        DatabaseManagementService server = new DatabaseManagementServiceBuilder(home)
                .loadPropertiesFromFile(settings)
                .setConfig(BoltConnector.listen_address, address)
                .setConfig(BoltConnector.advertised_address, address)
                .build();
        // SIGTERM closes the store in order; without this each start would begin with a recovery.
        Runtime.getRuntime().addShutdownHook(new Thread(server::shutdown, "close-store"));

        var database = server.database(GraphDatabaseSettings.DEFAULT_DATABASE_NAME);
        if (!database.isAvailable(MILLISECONDS_TO_OPEN)) {
            System.err.println("the database did not open; see " + home.resolve("logs/debug.log"));
            System.exit(1);
        }
        System.out.println("database available, bolt://" + address);
        // The server's own threads are daemons as far as this process is concerned: stay.
        try {
            Thread.currentThread().join();
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }
}
