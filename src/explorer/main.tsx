import { render } from "preact";
import { Page } from "./page.tsx";
import "./styles/base.css";

const root = document.querySelector("#explorer");
if (root === null) throw new Error("the page has no element #explorer");
render(<Page />, root);
