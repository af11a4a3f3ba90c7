// Runs `isotherm portfolio` and holds after a number of finished segments until SIGINT. Prints "held" then.
// Arguments: the number of segments, and those of the command.
import { built, replacing } from "./replacing.mjs";

const { portfolioCommand } = await built("cli/portfolio.js");
const { OUTPUT_DISK } = await built("places/run/outputDisk.js");

const [segmentCount, ...words] = process.argv.slice(2);
let finishedCount = 0;

async function hold() {
  const keptAlive = setInterval(() => undefined, 2 ** 31 - 1);
  const interrupted = new Promise((resolve) => void process.once("SIGINT", resolve));
  process.stdout.write("held\n");
  await interrupted;
  clearInterval(keptAlive);
}

/** Returns the list of segments, whose next line is not written while the process is held. */
const holding = (list) =>
  replacing(list, {
    async write(...parameters) {
      if (finishedCount++ === Number(segmentCount)) await hold();
      return await list.write(...parameters);
    },
  });

const disk = {
  ...OUTPUT_DISK,
  async open(path, flags) {
    const file = await OUTPUT_DISK.open(path, flags);
    return path.endsWith("segments.ndjson") ? holding(file) : file;
  },
};

await portfolioCommand({ disk }).parseAsync(words, { from: "user" });
