import { render } from "preact";
import { App } from "./app.tsx";
import "./styles/base.css";

const root = document.querySelector("#explorer");
if (root === null) throw new Error("the page has no element #explorer");
render(<App />, root);
