/** The page: a heading, the views, and what is wrong if there is no data. */
export function App() {
  return <h1>Isotherm</h1>;
}
