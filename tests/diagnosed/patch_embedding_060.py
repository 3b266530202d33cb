from torch import nn


class PatchEmbedding(nn.Module):
    def __init__(self, img_size=96, patch_size=16, in_channels=3, d_model=512):
        super().__init__()

        # make both sizes tuples
        if isinstance(img_size, int):
            img_height = img_size
            img_width = img_size
        else:
            img_height = img_size[0]
            img_width = img_size[1]
        if isinstance(patch_size, int):
            patch_height = patch_size
            patch_width = patch_size
        else:
            patch_height = patch_size[0]
            patch_width = patch_size[1]

        if img_height % patch_height != 0:
            raise ValueError(f"the patch height {patch_height} does not divide the image height {img_height}")
        if img_width % patch_width != 0:
            raise ValueError(f"the patch width {patch_width} does not divide the image width {img_width}")

        self.img_height = img_height
        self.img_width = img_width
        rows = img_height // patch_height
        columns = img_width // patch_width
        self.num_patches = rows * columns

        kernel = (patch_height, patch_width)
        self.projection = nn.Conv2d(in_channels, d_model, kernel_size=kernel, stride=kernel)

    def forward(self, images):
        height = images.shape[2]
        width = images.shape[3]
        pixels = height * width
        expected_pixels = self.img_height * self.img_width
        if pixels != expected_pixels:
            raise ValueError(
                f"expected images of {self.img_height} x {self.img_width}, but the images are {height} x {width}"
            )
        feature_map = self.projection(images)
        flat = feature_map.flatten(2)
        tokens = flat.transpose(1, 2)
        return tokens
