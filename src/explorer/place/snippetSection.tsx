import { SnippetPanel } from "../snippetPanel.tsx";
import { queryPrograms, type SnippetCall } from "./querySnippets.ts";

const QUERY_TITLES: Readonly<Record<SnippetCall["method"], string>> = {
  hazardRisk: "Query of the values",
  curve: "Query of the curves",
};

interface SnippetSectionProps {
  readonly call: SnippetCall;
  readonly answer: unknown;
}

/** The query that is shown, as a program to copy, and its answer as JSON. */
export function SnippetSection({ call, answer }: SnippetSectionProps) {
  const codeName = QUERY_TITLES[call.method];
  return (
    <SnippetPanel
      title={`Copy the ${codeName.toLowerCase()}`}
      codeName={codeName}
      programs={queryPrograms(call)}
      answer={answer}
    />
  );
}
