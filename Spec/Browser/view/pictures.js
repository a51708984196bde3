import { readFloats, samplesOf } from "../verifier/depth.js";
import { DEPTH, PHOTO } from "../verifier/path.js";
import { cloud } from "./cloud.js";
import { contentOf, presentEntry } from "./content.js";
import { DepthMap } from "./depthmap.js";
import { depthPicture } from "./depthpicture.js";
import { element } from "./dom.js";

// The photo that colours the points does not need more pixels than the points are.
const LARGEST_PHOTO = 1024;

/** Photo, depth map and points of a sound bundle, as figures in `box`. `isWanted` says whether they are still wanted. */
export async function showPictures(box, file, report, isWanted) {
    const add = node => { if (isWanted()) box.append(node); };
    let photo = null;
    const photoEntry = presentEntry(report, PHOTO);
    if (photoEntry) {
        const bytes = await contentOf(file, photoEntry);
        photo = await decoded(bytes);
        if (isWanted()) add(photoFigure(photo));
        else URL.revokeObjectURL(photo.url);
    }
    const depthEntry = presentEntry(report, DEPTH);
    if (!depthEntry || !isWanted()) return;
    const floats = await readFloats(await contentOf(file, depthEntry), report.manifest.depth);
    const map = new DepthMap(samplesOf(floats), report.manifest.depth, report.photo);
    add(depthPicture(map));
    if (map.measured > 0) add(cloud(map, report.metadata, photo?.image && smallPixels(photo.image)));
}

/** The photo as an image that the browser turned upright; `image` is null if it cannot be decoded. */
async function decoded(bytes) {
    const url = URL.createObjectURL(new Blob([bytes], { type: "image/jpeg" }));
    const image = new Image();
    image.src = url;
    try {
        await image.decode();
        return { url, image };
    } catch {
        return { url, image: null };
    }
}

function photoFigure({ image }) {
    if (!image) return element("p", { class: "note" }, "The browser cannot decode the photo. Save it to look at it.");
    image.alt = "The photo of this capture";
    image.width = image.naturalWidth;
    image.height = image.naturalHeight;
    return element(
        "figure", { class: "photo" }, image,
        element("figcaption", {}, `Photo, ${image.naturalWidth} × ${image.naturalHeight} pixels`));
}

function smallPixels(image) {
    const scale = Math.min(1, LARGEST_PHOTO / Math.max(image.naturalWidth, image.naturalHeight));
    const canvas = document.createElement("canvas");
    canvas.width = Math.max(1, Math.round(image.naturalWidth * scale));
    canvas.height = Math.max(1, Math.round(image.naturalHeight * scale));
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return context.getImageData(0, 0, canvas.width, canvas.height);
}
