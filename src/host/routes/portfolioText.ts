/** Encodes the response of a portfolio as JSON, chunk by chunk so that other work can run in between. */
import { portfolioHead, roundEntity, roundFinanced, roundPortfolioResult } from "../../holdings/alignPortfolio.ts";
import { scoreEntities } from "../../holdings/entityScores.ts";
import { financedEmissions, portfolioResults } from "../../holdings/portfolioResults.ts";
import { mergeHoldings } from "../../holdings/mergedHoldings.ts";
import type { PortfolioRequest } from "../../contract/wireTypes.ts";
import { encodeJson } from "../../text/json/json.ts";

export interface PortfolioChunk {
  readonly text: string;
  /** Usage units of the chunk: the number of temperatures of entities that are not null. */
  readonly units: number;
  /** Entities and results that were computed for the chunk. */
  readonly doneCount: number;
}

/** Computes and encodes the response to a valid request: a chunk for some entities at a time, and for each method and scope. */
export async function* portfolioChunks({ holdings, options = {} }: PortfolioRequest): AsyncGenerator<PortfolioChunk> {
  const columns = mergeHoldings(holdings);
  const entityTexts: string[] = [];
  for await (const { entities, temperatureCount } of scoreEntities(columns, options)) {
    for (const entity of entities) entityTexts.push(encodeJson(roundEntity(entity)));
    yield { text: "", units: temperatureCount, doneCount: entities.length };
  }
  const head = JSON.stringify(portfolioHead(options));
  let opening = `${head.slice(0, -1)},"results":[`;
  for (const result of portfolioResults(columns, options)) {
    yield { text: opening + encodeJson(roundPortfolioResult(result)), units: 0, doneCount: 1 };
    opening = ",";
  }
  const financed = encodeJson(roundFinanced(financedEmissions(columns)));
  const text = `],"financed":${financed},"entities":[${entityTexts.join(",")}]}`;
  yield { text, units: 0, doneCount: 0 };
}
