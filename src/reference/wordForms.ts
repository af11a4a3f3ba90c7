/** Words that are written in more than one way, and the form that the keys have. */
const WORD_FORMS: ReadonlyMap<string, string> = new Map<string, string>([
  // British spellings.
  ["aluminium", "aluminum"],
  ["catalogue", "catalog"],
  ["centre", "center"],
  ["centres", "centers"],
  ["defence", "defense"],
  ["fertiliser", "fertilizer"],
  ["fertilisers", "fertilizers"],
  ["fibre", "fiber"],
  ["fibres", "fibers"],
  ["homogenised", "homogenized"],
  ["jewellery", "jewelry"],
  ["labour", "labor"],
  ["orthopaedic", "orthopedic"],
  ["organisation", "organization"],
  ["organisations", "organizations"],
  ["programme", "program"],
  ["programmes", "programs"],
  ["specialised", "specialized"],
  ["tyre", "tire"],
  ["tyres", "tires"],
  // Compounds and abbreviations.
  ["ecommerce", "e commerce"],
  ["healthcare", "health care"],
  ["homebuilders", "home builders"],
  ["homebuilding", "home building"],
  ["multiline", "multi line"],
  ["multiutilities", "multi utilities"],
  ["nec", "n e c"],
  ["nonalcoholic", "non alcoholic"],
  ["nonlife", "non life"],
  ["semitrailers", "semi trailers"],
]);

/** Returns a folded name with one form for words that are written in several ways. */
export function withCommonWordForms(folded: string): string {
  return folded
    .split(" ")
    .map((word) => WORD_FORMS.get(word) ?? word)
    .join(" ");
}
