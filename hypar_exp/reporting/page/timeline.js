// The timeline as wide as its slider says: from the width of the page to sixteen times that.
const picture = document.querySelector("#timeline svg"), zoom = document.getElementById("zoom");
picture.removeAttribute("height");
function widen() { picture.setAttribute("width", `${100 * 2 ** zoom.value}%`); }
zoom.addEventListener("input", widen);
widen();
